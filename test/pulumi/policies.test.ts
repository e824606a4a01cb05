import { describe, expect, it } from 'vitest';
import { type Props, policies, type StackResource, violations } from '../../infra/policies/policies.ts';
import { types } from '../../infra/policies/types.ts';
import { build, existingVpc, ownVpc } from './aws/mocks.ts';

/** Our own resources as AWS would have them, in each of the forms that the settings can give them. */
const stacks: Record<string, StackResource[]> = {};
for (const server of ['instance', 'aurora'] as const) {
  for (const [network, args] of Object.entries({ existingVpc, ownVpc })) {
    const { made } = await build({ ...args, server });
    stacks[`${server} in ${network}`] = made.map(({ type, state }) => ({ type, props: state }));
  }
}
const both = [...(stacks['instance in ownVpc'] ?? []), ...(stacks['aurora in ownVpc'] ?? [])];

type Bend = (stack: StackResource[]) => StackResource[];

/** The same stack, with other properties of every resource of a type. */
const set =
  (type: string, change: Props | ((props: Props) => Props)): Bend =>
  (stack) =>
    stack.map((each) =>
      each.type === type
        ? { type, props: { ...each.props, ...(typeof change === 'function' ? change(each.props) : change) } }
        : each,
    );

const add =
  (type: string, props: Props): Bend =>
  (stack) => [...stack, { type, props }];

const without =
  (type: string, drop: (props: Props) => boolean = () => true): Bend =>
  (stack) =>
    stack.filter((each) => each.type !== type || !drop(each.props));

const withoutParameter = (type: string, name: string): Bend =>
  set(type, ({ parameters }) => ({
    parameters: (parameters as Props[]).filter((each) => each['name'] !== name),
  }));

const { instance, cluster, member } = types;
const world = { ipProtocol: 'tcp', cidrIpv4: '0.0.0.0/0', description: 'all' };
const unheard = (sourceType: string, lost: string) =>
  set(types.events, (props) =>
    props['sourceType'] === sourceType
      ? { eventCategories: (props['eventCategories'] as string[]).filter((each) => each !== lost) }
      : {},
  );

/** For each rule the ways to break it, and nothing else of note. */
const bends: Record<string, Bend[]> = {
  CKV_AWS_16: [set(instance, { storageEncrypted: false })],
  CKV_AWS_17: [set(instance, { publiclyAccessible: true }), set(member, { publiclyAccessible: true })],
  CKV_AWS_118: [set(instance, { monitoringInterval: 0 }), set(member, { monitoringInterval: undefined })],
  CKV_AWS_129: [set(instance, { enabledCloudwatchLogsExports: [] })],
  CKV_AWS_133: [set(instance, { backupRetentionPeriod: 0 }), set(cluster, { backupRetentionPeriod: 36 })],
  CKV_AWS_157: [set(instance, { multiAz: false })],
  CKV_AWS_161: [set(instance, { iamDatabaseAuthenticationEnabled: false })],
  CKV_AWS_211: [set(instance, { caCertIdentifier: 'rds-ca-2019' })],
  CKV_AWS_226: [
    set(instance, { autoMinorVersionUpgrade: false }),
    set(member, { autoMinorVersionUpgrade: false }),
  ],
  CKV_AWS_250: [
    set(instance, { engineVersion: '13.2' }),
    set(instance, { engineVersion: '12.6' }),
    set(instance, { engineVersion: '9.6' }),
    set(cluster, { engineVersion: '11.8' }),
  ],
  CKV_AWS_293: [set(instance, { deletionProtection: false })],
  CKV_AWS_353: [
    set(instance, { performanceInsightsEnabled: false }),
    set(member, { performanceInsightsEnabled: undefined }),
  ],
  CKV_AWS_354: [
    set(instance, { performanceInsightsKmsKeyId: undefined }),
    set(member, { performanceInsightsKmsKeyId: '' }),
  ],
  CKV_AWS_388: [set(cluster, { engineVersion: '10.13' }), set(cluster, { engineVersion: '11.6' })],
  CKV2_AWS_30: [
    withoutParameter(types.parameters, 'log_statement'),
    withoutParameter(types.parameters, 'log_min_duration_statement'),
    set(instance, { parameterGroupName: 'default.postgres17' }),
  ],
  CKV2_AWS_60: [set(instance, { copyTagsToSnapshot: undefined })],
  CKV2_AWS_69: [
    withoutParameter(types.parameters, 'rds.force_ssl'),
    set(types.clusterParameters, { parameters: [{ name: 'rds.force_ssl', value: '0' }] }),
  ],
  CKV_AWS_96: [set(cluster, { storageEncrypted: undefined })],
  CKV_AWS_139: [set(cluster, { deletionProtection: false })],
  CKV_AWS_162: [set(cluster, { iamDatabaseAuthenticationEnabled: false })],
  CKV_AWS_313: [set(cluster, { copyTagsToSnapshot: false })],
  CKV_AWS_324: [set(cluster, { enabledCloudwatchLogsExports: [] })],
  CKV_AWS_327: [set(cluster, { kmsKeyId: undefined })],
  CKV2_AWS_8: [without(types.backup), set(types.backup, { resources: ['arn:another'] })],
  CKV2_AWS_27: [
    withoutParameter(types.clusterParameters, 'log_statement'),
    set(cluster, { dbClusterParameterGroupName: undefined }),
  ],
  CKV_AWS_23: [
    set(types.group, { description: 'Managed by Pulumi' }),
    set(types.ingress, { description: undefined }),
    set(types.group, { ingress: [{ fromPort: 22, toPort: 22, protocol: 'tcp' }] }),
  ],
  CKV_AWS_24: [
    add(types.ingress, { ...world, fromPort: 20, toPort: 25 }),
    set(types.group, { ingress: [{ protocol: 'tcp', fromPort: 22, toPort: 22, cidrBlocks: ['0.0.0.0/0'] }] }),
    add(types.groupRule, {
      type: 'ingress',
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
      ipv6CidrBlocks: ['::/0'],
      description: 'all',
    }),
  ],
  CKV_AWS_25: [add(types.ingress, { ...world, fromPort: 3389, toPort: 3389 })],
  CKV_AWS_260: [add(types.ingress, { ...world, fromPort: 80, toPort: 80 })],
  CKV_AWS_277: [
    add(types.ingress, { ...world, ipProtocol: '-1' }),
    add(types.ingress, { ...world, fromPort: 0, toPort: 65_535 }),
    add(types.ingress, { ipProtocol: '-1', cidrIpv6: '::/0', description: 'all' }),
  ],
  CKV_AWS_382: [
    add(types.egress, { ...world, ipProtocol: '-1' }),
    set(types.group, { egress: [{ protocol: '-1', fromPort: 0, toPort: 0, cidrBlocks: ['0.0.0.0/0'] }] }),
  ],
  CKV2_AWS_5: [add(types.group, { id: 'sg-alone', description: 'alone' })],
  CKV_AWS_149: [
    set(instance, { masterUserSecretKmsKeyId: undefined }),
    set(cluster, { masterUserSecretKmsKeyId: 'alias/aws/secretsmanager' }),
    add(types.secret, { id: 'secret' }),
  ],
  CKV2_AWS_57: [
    set(instance, { manageMasterUserPassword: undefined, password: 'x' }),
    set(cluster, { masterPassword: 'x' }),
    add(types.secret, { id: 'secret' }),
  ],
  CKV_AWS_7: [set(types.key, { enableKeyRotation: false })],
  CKV_AWS_33: [
    set(types.key, { policy: '{"Statement":{"Effect":"Allow","Principal":"*","Action":"kms:*"}}' }),
    set(types.key, { policy: '{"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]}}]}' }),
  ],
  CKV2_AWS_64: [set(types.key, { policy: undefined })],
  CKV_AWS_66: [set(types.logGroup, { retentionInDays: undefined })],
  CKV_AWS_158: [set(types.logGroup, { kmsKeyId: undefined })],
  CKV_AWS_338: [set(types.logGroup, { retentionInDays: 180 })],
  'RDS.1': [add(types.snapshot, { sharedAccounts: ['all'] })],
  'RDS.2': [set(member, { publiclyAccessible: true })],
  'RDS.3': [set(instance, { storageEncrypted: undefined })],
  'RDS.4': [
    add(types.snapshot, { encrypted: false }),
    add(types.snapshotCopy, {}),
    add(types.clusterSnapshot, { storageEncrypted: false }),
  ],
  'RDS.5': [set(instance, { multiAz: undefined })],
  'RDS.6': [set(member, { monitoringInterval: 0 })],
  'RDS.7': [set(cluster, { deletionProtection: undefined })],
  'RDS.8': [set(instance, { deletionProtection: undefined })],
  'RDS.9': [set(instance, { enabledCloudwatchLogsExports: ['postgresql'] })],
  'RDS.10': [set(instance, { iamDatabaseAuthenticationEnabled: undefined })],
  'RDS.11': [set(instance, { backupRetentionPeriod: 6 })],
  'RDS.12': [set(cluster, { iamDatabaseAuthenticationEnabled: undefined })],
  'RDS.13': [set(instance, { autoMinorVersionUpgrade: undefined })],
  'RDS.15': [without(member, ({ name }) => name === 'hooks-server-2')],
  'RDS.16': [set(cluster, { copyTagsToSnapshot: undefined })],
  'RDS.17': [set(instance, { copyTagsToSnapshot: false })],
  'RDS.18': [set(instance, { dbSubnetGroupName: undefined })],
  'RDS.19': [unheard('db-cluster', 'failure'), without(types.events)],
  'RDS.20': [unheard('db-instance', 'maintenance'), set(types.events, { enabled: false })],
  'RDS.21': [unheard('db-parameter-group', 'configuration change')],
  'RDS.22': [unheard('db-security-group', 'failure')],
  'RDS.23': [set(instance, { port: 5432 }), set(cluster, { port: undefined })],
  'RDS.24': [set(cluster, { masterUsername: 'postgres' })],
  'RDS.25': [set(instance, { username: 'admin' })],
  'RDS.26': [without(types.backup)],
  'RDS.27': [set(cluster, { storageEncrypted: false })],
  'RDS.35': [set(cluster, { autoMinorVersionUpgrade: undefined })],
  'RDS.36': [set(instance, { enabledCloudwatchLogsExports: ['upgrade'] })],
  'RDS.43': [add(types.proxy, { requireTls: false })],
  'RDS.46': [
    add(types.association, { subnetId: 'hooks-db-1-id', routeTableId: 'hooks-workload-routes-id' }),
    (stack) =>
      add(types.association, { subnetId: 'hooks-db-1-id', routeTableId: 'open' })(
        add(types.routeTable, { id: 'open', routes: [{ cidrBlock: '0.0.0.0/0', gatewayId: 'igw-1' }] })(
          stack,
        ),
      ),
  ],
};

const near = { ipProtocol: '-1', cidrIpv4: '10.0.0.0/8', description: 'near' };

/** For some rules what they must not object to. */
const fine: Record<string, Bend[]> = {
  CKV_AWS_24: [add(types.ingress, near), add(types.ingress, { ...world, fromPort: 443, toPort: 443 })],
  CKV_AWS_277: [add(types.ingress, near), add(types.ingress, { ...world, fromPort: 443, toPort: 443 })],
  CKV_AWS_382: [add(types.egress, near), add(types.egress, { ...world, fromPort: 443, toPort: 443 })],
  CKV_AWS_250: [set(instance, { engineVersion: '13.3' }), set(cluster, { engineVersion: '11.9' })],
  CKV_AWS_388: [set(cluster, { engineVersion: '10.14' })],
  CKV_AWS_149: [add(types.secret, { id: 'secret', kmsKeyId: 'arn:key' })],
  CKV2_AWS_57: [
    (stack) => add(types.rotation, { secretId: 's' })(add(types.secret, { id: 's', kmsKeyId: 'k' })(stack)),
  ],
  CKV_AWS_7: [set(types.key, { enableKeyRotation: false, customerMasterKeySpec: 'RSA_2048' })],
  CKV_AWS_33: [
    set(types.key, { policy: '{"Statement":{"Effect":"Deny","Principal":"*"}}' }),
    set(types.key, { policy: '{"Statement":{"Effect":"Allow","Principal":"*","Condition":{}}}' }),
  ],
  CKV2_AWS_64: [
    (stack) =>
      set(types.key, { policy: undefined })(
        add(types.keyPolicy, { keyId: 'hooks-key-id', policy: '{}' })(stack),
      ),
  ],
  CKV_AWS_338: [set(types.logGroup, { retentionInDays: 0 })],
  'RDS.1': [add(types.snapshot, { sharedAccounts: ['123456789012'] })],
  'RDS.4': [add(types.snapshot, { encrypted: true }), add(types.clusterSnapshot, { storageEncrypted: true })],
  'RDS.43': [add(types.proxy, { requireTls: true })],
  'RDS.46': [
    add(types.routeTable, { id: 'elsewhere', routes: [{ cidrBlock: '0.0.0.0/0', gatewayId: 'igw-1' }] }),
    (stack) =>
      add(types.association, { subnetId: 'hooks-db-1-id', routeTableId: 'inner' })(
        add(types.route, { routeTableId: 'inner', natGatewayId: 'nat-1' })(stack),
      ),
  ],
};

/** Rules about resources that we do not make. */
const aboutOthers = ['RDS.1', 'RDS.4', 'RDS.43'];

it('every rule is bent, and no other', () => {
  expect(policies.map(({ id }) => id).toSorted()).toEqual(Object.keys(bends).toSorted());
});

describe.each(policies)('$id: $title', (policy) => {
  const { id, appliesTo } = policy;

  it('is kept by our servers, and looks at something of theirs', () => {
    for (const [name, stack] of Object.entries({ ...stacks, both })) {
      expect(violations(policy, stack), name).toEqual([]);
    }
    expect(both.some(({ type }) => appliesTo.includes(type))).toBe(!aboutOthers.includes(id));
  });

  it.each(bends[id] ?? [])('is broken by a resource that is bent (%$)', (bend) => {
    expect(violations(policy, bend(both)).length).toBeGreaterThan(0);
  });

  it.each(fine[id] ?? [])('is kept by a resource that is different (%$)', (change) => {
    expect(violations(policy, change(both))).toEqual([]);
  });
});

const costly = {
  instance: ['CKV_AWS_157', 'CKV_AWS_293', 'CKV_AWS_338', 'RDS.23', 'RDS.26', 'RDS.5', 'RDS.8'],
  aurora: ['CKV2_AWS_8', 'CKV_AWS_139', 'CKV_AWS_338', 'RDS.15', 'RDS.23', 'RDS.7'],
};

it.each(['instance', 'aurora'] as const)(
  'cheaper settings of an %s break rules that only advise',
  async (server) => {
    const { made } = await build({
      ...existingVpc,
      server,
      port: 5432,
      logDays: 30,
      protection: { deletion: false, multiAz: false, backupPlan: false, finalSnapshot: false },
    });
    const stack = made.map(({ type, state }) => ({ type, props: state }));
    const broken = policies.filter((policy) => violations(policy, stack).length > 0);
    expect(broken.map(({ id }) => id).toSorted()).toEqual(costly[server]);
    expect(broken.filter(({ level }) => level === 'mandatory')).toEqual([]);
  },
);
