import { describe, expect, it } from 'vitest';
import { build, existingVpc, identifier } from './aws/mocks.ts';

const type = 'aws:rds/cluster:Cluster';
const memberType = 'aws:rds/clusterInstance:ClusterInstance';

describe('an Aurora Serverless v2 cluster', async () => {
  const built = await build({ ...existingVpc, server: 'aurora', version: '16' });
  const key = built.one('aws:kms/key:Key');

  it('has every setting that keeps it safe', () => {
    expect(built.one(type)).toMatchObject({
      name: 'hooks-server',
      inputs: {
        clusterIdentifier: identifier,
        engine: 'aurora-postgresql',
        engineVersion: '16',
        autoMinorVersionUpgrade: true,
        serverlessv2ScalingConfiguration: { minCapacity: 0.5, maxCapacity: 2 },
        storageEncrypted: true,
        kmsKeyId: key.state['arn'],
        masterUsername: 'oncehook_admin',
        manageMasterUserPassword: true,
        masterUserSecretKmsKeyId: key.state['arn'],
        iamDatabaseAuthenticationEnabled: true,
        port: 15_432,
        dbSubnetGroupName: 'hooks-subnets',
        vpcSecurityGroupIds: ['hooks-server-id'],
        dbClusterParameterGroupName: 'hooks-parameters',
        enabledCloudwatchLogsExports: ['postgresql'],
        databaseInsightsMode: 'standard',
        performanceInsightsEnabled: true,
        backupRetentionPeriod: 7,
        copyTagsToSnapshot: true,
        deletionProtection: true,
        skipFinalSnapshot: false,
        finalSnapshotIdentifier: `${identifier}-final`,
        deleteAutomatedBackups: false,
      },
    });
    expect(built.one(type).inputs).not.toHaveProperty('masterPassword');
  });

  it('has a writer and a reader, neither of them public', () => {
    const members = built.made.filter((each) => each.type === memberType);
    expect(members.map(({ name }) => name)).toEqual(['hooks-server-1', 'hooks-server-2']);
    members.forEach(({ name, inputs }, index) => {
      expect(inputs, name).toMatchObject({
        identifier: `${identifier}-${index + 1}`,
        clusterIdentifier: 'hooks-server-id',
        engine: 'aurora-postgresql',
        instanceClass: 'db.serverless',
        publiclyAccessible: false,
        autoMinorVersionUpgrade: true,
        caCertIdentifier: 'rds-ca-rsa2048-g1',
        monitoringInterval: 60,
        performanceInsightsKmsKeyId: key.state['arn'],
        promotionTier: index,
      });
    });
  });

  it('has parameters and log groups of a cluster', () => {
    expect(built.one('aws:rds/clusterParameterGroup:ClusterParameterGroup').inputs).toMatchObject({
      family: 'aurora-postgresql16',
    });
    expect(built.one('aws:cloudwatch/logGroup:LogGroup').inputs).toMatchObject({
      name: `/aws/rds/cluster/${identifier}/postgresql`,
    });
    expect(built.made.some((each) => each.type.startsWith('aws:rds/instance:'))).toBe(false);
  });

  it("alarms on its writer's metrics, and on the growth of its volume", () => {
    const alarms = built.made.filter((each) => each.type === 'aws:cloudwatch/metricAlarm:MetricAlarm');
    const dimensions = Object.fromEntries(alarms.map(({ name, inputs }) => [name, inputs['dimensions']]));
    const writer = { DBClusterIdentifier: identifier, Role: 'WRITER' };
    expect(dimensions).toEqual({
      'hooks-alarm-cpu': writer,
      'hooks-alarm-memory': writer,
      'hooks-alarm-connections': writer,
      'hooks-alarm-transaction-ids': writer,
      'hooks-alarm-capacity': writer,
      'hooks-alarm-storage': { DBClusterIdentifier: identifier },
    });
  });

  it('hears of itself, of its instances, and of what the account does to groups', () => {
    const events = built.made.filter((each) => each.type === 'aws:rds/eventSubscription:EventSubscription');
    const sources = events.map(({ inputs }) => [inputs['sourceType'], inputs['sourceIds']]);
    expect(Object.fromEntries(sources)).toEqual({
      'db-cluster': [identifier],
      'db-instance': [`${identifier}-1`, `${identifier}-2`],
      'db-parameter-group': undefined,
      'db-security-group': undefined,
    });
  });
});

it('has one instance where a second zone is not wanted', async () => {
  const built = await build({ ...existingVpc, server: 'aurora', protection: { multiAz: false } });
  expect(built.one(memberType).name).toBe('hooks-server-1');
});
