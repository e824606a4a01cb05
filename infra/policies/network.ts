import { isText, list, mandatory, objects } from './checks.ts';
import type { Policy, Props } from './rule.ts';
import { types } from './types.ts';

/** One rule of a security group, wherever it is written. */
interface GroupRule {
  from: number;
  to: number;
  /** `-1`: every protocol, and with it every port. */
  protocol: string;
  networks: unknown[];
}

function ruleOf(props: Props): GroupRule {
  const number = (value: unknown) => (typeof value === 'number' ? value : -1);
  return {
    from: number(props['fromPort']),
    to: number(props['toPort']),
    protocol: String(props['ipProtocol'] ?? props['protocol'] ?? '-1'),
    networks: [
      ...list(props['cidrBlocks']),
      ...list(props['ipv6CidrBlocks']),
      props['cidrIpv4'],
      props['cidrIpv6'],
    ],
  };
}

/** The rules of one direction in a resource: one that is a rule, or a group that holds some. */
function rulesIn(props: Props, type: string, direction: 'ingress' | 'egress'): GroupRule[] {
  if (type === types.group) return objects(props[direction]).map(ruleOf);
  if (type === types.groupRule) return props['type'] === direction ? [ruleOf(props)] : [];
  return type === types[direction] ? [ruleOf(props)] : [];
}

const everywhere = ({ networks }: GroupRule) =>
  networks.some((each) => each === '0.0.0.0/0' || each === '::/0');
const everyPort = ({ protocol, from, to }: GroupRule) =>
  protocol === '-1' || (from <= 0 && to >= 65_535) || (from === -1 && to === -1);
const covers = (port: number) => (rule: GroupRule) =>
  everyPort(rule) || (rule.from <= port && port <= rule.to);

function closed(
  id: string,
  title: string,
  direction: 'ingress' | 'egress',
  open: (rule: GroupRule) => boolean,
): Policy {
  return {
    ...mandatory(id, title, [types.group, types.groupRule, types[direction]]),
    scope: 'resource',
    check: (props, type) =>
      rulesIn(props, type, direction).some((rule) => everywhere(rule) && open(rule))
        ? `Its ${direction} is open to the whole internet.`
        : undefined,
  };
}

const described = (props: Props) =>
  isText(props['description']) && props['description'] !== 'Managed by Pulumi';

/** Every property of other resources that holds security groups. */
const attachments = ['vpcSecurityGroupIds', 'securityGroupIds', 'securityGroups'];

/** Rules about security groups. */
export const networkPolicies: readonly Policy[] = [
  {
    ...mandatory('CKV_AWS_23', 'Every group and rule has a description', [
      types.group,
      types.groupRule,
      types.ingress,
      types.egress,
    ]),
    scope: 'resource',
    check: (props) =>
      described(props) && [...objects(props['ingress']), ...objects(props['egress'])].every(described)
        ? undefined
        : 'A description is missing.',
  },
  closed('CKV_AWS_24', 'Port 22 is not open to everybody', 'ingress', covers(22)),
  closed('CKV_AWS_25', 'Port 3389 is not open to everybody', 'ingress', covers(3389)),
  closed('CKV_AWS_260', 'Port 80 is not open to everybody', 'ingress', covers(80)),
  closed('CKV_AWS_277', 'No group is open to everybody on every port', 'ingress', everyPort),
  closed('CKV_AWS_382', 'No group lets out everything to everywhere', 'egress', everyPort),
  {
    ...mandatory('CKV2_AWS_5', 'Every group is attached to something', [types.group]),
    scope: 'stack',
    check: (props, stack) =>
      stack.some((each) => attachments.some((name) => list(each.props[name]).includes(props['id'])))
        ? undefined
        : 'Nothing has it.',
  },
];
