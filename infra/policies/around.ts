import { advisory, demand, isText, list, mandatory, objects } from './checks.ts';
import type { Policy, Props, StackResource } from './rule.ts';
import { types } from './types.ts';

const { instance, cluster, member } = types;

const of = (stack: readonly StackResource[], ...wanted: readonly string[]): Props[] =>
  stack.filter(({ type }) => wanted.includes(type)).map(({ props }) => props);

/** The parameters of the group that a server names; undefined where the stack does not make it. */
function parametersOf(props: Props, stack: readonly StackResource[]): Map<string, unknown> | undefined {
  const named = (type: string, name: unknown) =>
    of(stack, type).find((each) => isText(name) && each['name'] === name);
  const group =
    named(types.parameters, props['parameterGroupName']) ??
    named(types.clusterParameters, props['dbClusterParameterGroupName']);
  if (!group) return undefined;
  return new Map(objects(group['parameters']).map((each) => [String(each['name']), each['value']]));
}

/** A rule that the parameter group of a server decides. */
function demandParameters(
  head: Pick<Policy, 'id' | 'title' | 'appliesTo' | 'level'>,
  wanted: Record<string, string | undefined>,
): Policy {
  return {
    ...head,
    scope: 'stack',
    check(props, stack) {
      const given = parametersOf(props, stack);
      if (!given) return 'It has no parameter group of its own.';
      const missing = Object.entries(wanted).filter(
        ([name, value]) => !given.has(name) || (value !== undefined && given.get(name) !== value),
      );
      if (missing.length === 0) return undefined;
      return `Its parameter group does not say ${missing.map(([name, value]) => (value ? `${name} = ${value}` : name)).join(' and ')}.`;
    },
  };
}

const backedUp = (props: Props, stack: readonly StackResource[]): string | undefined => {
  const named = of(stack, types.backup).some((each) => list(each['resources']).includes(props['arn']));
  return named ? undefined : 'No selection of AWS Backup names it.';
};

/** A public subnet is one whose table has a route to an internet gateway. */
function isPublic(subnetId: unknown, stack: readonly StackResource[]): boolean {
  const tables = of(stack, types.association)
    .filter((each) => each['subnetId'] === subnetId)
    .map((each) => each['routeTableId']);
  const leadsOut = (route: Props) =>
    String(route['gatewayId'] ?? '') !== '' && route['gatewayId'] !== 'local';
  return (
    of(stack, types.route).some((each) => tables.includes(each['routeTableId']) && leadsOut(each)) ||
    of(stack, types.routeTable).some(
      (each) => tables.includes(each['id']) && objects(each['routes']).some(leadsOut),
    )
  );
}

/** Rules about a server and what stands around it. */
export const surroundingPolicies: readonly Policy[] = [
  demandParameters(mandatory('CKV2_AWS_27', "The cluster's queries can be logged", [cluster]), {
    log_statement: undefined,
    log_min_duration_statement: undefined,
  }),
  demandParameters(mandatory('CKV2_AWS_30', "The instance's queries can be logged", [instance]), {
    log_statement: undefined,
    log_min_duration_statement: undefined,
  }),
  demandParameters(mandatory('CKV2_AWS_69', 'Connections are encrypted', [instance, cluster]), {
    'rds.force_ssl': '1',
  }),
  {
    ...advisory('CKV2_AWS_8', 'AWS Backup has a plan for the cluster', [cluster]),
    scope: 'stack',
    check: backedUp,
  },
  {
    ...advisory('RDS.26', 'AWS Backup has a plan for the instance', [instance]),
    scope: 'stack',
    check: backedUp,
  },
  {
    ...advisory('RDS.15', 'The cluster has instances in two zones', [cluster]),
    scope: 'stack',
    check(props, stack) {
      const members = of(stack, member).filter((each) => each['clusterIdentifier'] === props['id']);
      return members.length >= 2 ? undefined : `It has ${members.length} instance.`;
    },
  },
  {
    ...mandatory('RDS.46', 'The server stands in no public subnet', [types.subnetGroup]),
    scope: 'stack',
    check: (props, stack) =>
      list(props['subnetIds']).some((id) => isPublic(id, stack))
        ? 'One of its subnets has a route to an internet gateway.'
        : undefined,
  },
  demand(
    mandatory('RDS.1', 'No snapshot is public', [types.snapshot, types.snapshotCopy]),
    'sharedAccounts',
    (value) => !list(value).includes('all'),
  ),
  {
    ...mandatory('RDS.4', 'Snapshots are encrypted', [
      types.snapshot,
      types.snapshotCopy,
      types.clusterSnapshot,
    ]),
    scope: 'stack',
    // Outputs: known once the snapshot is there.
    check: (props) =>
      props['encrypted'] === true || props['storageEncrypted'] === true ? undefined : 'It is not encrypted.',
  },
  demand(mandatory('RDS.43', 'A proxy demands TLS', [types.proxy]), 'requireTls', (value) => value === true),
];

/** Whether the stack hears of some events of some sources. */
const heard =
  (sourceType: string, categories: readonly string[]) => (_: Props, stack: readonly StackResource[]) => {
    const found = of(stack, types.events).some(
      (each) =>
        each['enabled'] !== false &&
        each['sourceType'] === sourceType &&
        categories.every((category) => list(each['eventCategories']).includes(category)),
    );
    return found ? undefined : `No subscription for ${sourceType} has ${categories.join(', ')}.`;
  };

/** Rules about RDS's events. */
export const eventPolicies: readonly Policy[] = [
  {
    ...mandatory('RDS.19', 'Critical events of clusters are heard', [cluster]),
    scope: 'stack',
    check: heard('db-cluster', ['maintenance', 'failure']),
  },
  {
    ...mandatory('RDS.20', 'Critical events of instances are heard', [instance, member]),
    scope: 'stack',
    check: heard('db-instance', ['maintenance', 'configuration change', 'failure']),
  },
  {
    ...mandatory('RDS.21', 'Changes of parameter groups are heard', [instance, cluster]),
    scope: 'stack',
    check: heard('db-parameter-group', ['configuration change']),
  },
  {
    ...mandatory('RDS.22', 'Changes of security groups are heard', [instance, cluster]),
    scope: 'stack',
    check: heard('db-security-group', ['configuration change', 'failure']),
  },
];
