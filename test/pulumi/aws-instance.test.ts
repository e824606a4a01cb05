import { describe, expect, it } from 'vitest';
import { build, existingVpc, identifier } from './aws/mocks.ts';

const type = 'aws:rds/instance:Instance';

describe('an RDS instance in a VPC that is there', async () => {
  const built = await build(existingVpc, { elsewhere: true });
  const key = built.one('aws:kms/key:Key');

  it('has every setting that keeps it safe, and nothing that an attacker would guess', () => {
    expect(built.one(type)).toMatchObject({
      name: 'hooks-server',
      inputs: {
        identifier,
        engine: 'postgres',
        engineVersion: '17',
        autoMinorVersionUpgrade: true,
        allowMajorVersionUpgrade: false,
        applyImmediately: false,
        engineLifecycleSupport: 'open-source-rds-extended-support-disabled',
        instanceClass: 'db.t4g.small',
        storageType: 'gp3',
        allocatedStorage: 20,
        maxAllocatedStorage: 100,
        storageEncrypted: true,
        kmsKeyId: key.state['arn'],
        username: 'oncehook_admin',
        manageMasterUserPassword: true,
        masterUserSecretKmsKeyId: key.state['arn'],
        iamDatabaseAuthenticationEnabled: true,
        port: 15_432,
        publiclyAccessible: false,
        dbSubnetGroupName: 'hooks-subnets',
        vpcSecurityGroupIds: ['hooks-server-id'],
        multiAz: true,
        parameterGroupName: 'hooks-parameters',
        caCertIdentifier: 'rds-ca-rsa2048-g1',
        enabledCloudwatchLogsExports: ['postgresql', 'upgrade'],
        monitoringInterval: 60,
        databaseInsightsMode: 'standard',
        performanceInsightsEnabled: true,
        performanceInsightsKmsKeyId: key.state['arn'],
        performanceInsightsRetentionPeriod: 7,
        backupRetentionPeriod: 7,
        copyTagsToSnapshot: true,
        deletionProtection: true,
        skipFinalSnapshot: false,
        finalSnapshotIdentifier: `${identifier}-final`,
        deleteAutomatedBackups: false,
        tags: { Name: 'hooks', ManagedBy: 'oncehook' },
      },
    });
    expect(built.one(type).inputs).not.toHaveProperty('password');
  });

  it('has the component as parent of every child, and the given provider for all of them', () => {
    const children = [...built.options].filter(([name]) => name !== 'hooks');
    expect(children.length).toBeGreaterThan(20);
    for (const [name, { urn, parent }] of children) {
      expect(parent, name).toBe(built.server);
      expect(name.startsWith('hooks-'), name).toBe(true);
      expect(urn, name).toContain('::oncehook:infra:AwsPostgres$');
    }
    const ofAws = built.made.filter((each) => each.type.startsWith('aws:'));
    for (const { name, provider } of ofAws) expect(provider, name).toContain('::elsewhere::');
    for (const { token, provider } of built.calls) expect(provider, token).toContain('::elsewhere::');
  });

  it('waits for its log groups, which RDS would otherwise make by itself', () => {
    const groups = built.made.filter((each) => each.type === 'aws:cloudwatch/logGroup:LogGroup');
    expect(groups.map(({ inputs }) => inputs)).toEqual(
      ['postgresql', 'upgrade'].map((log) => ({
        name: `/aws/rds/instance/${identifier}/${log}`,
        retentionInDays: 365,
        kmsKeyId: key.state['arn'],
        tags: { Name: 'hooks', ManagedBy: 'oncehook' },
      })),
    );
    const waits = built.options.get('hooks-server');
    const names = [waits?.dependsOn].flat().map((each) => (each as { __name?: string }).__name);
    expect(names).toEqual(['hooks-log-postgresql', 'hooks-log-upgrade', 'hooks-monitoring-policy']);
  });

  it('makes no network, and lets in whom the settings name, on its port alone', () => {
    expect(built.made.filter((each) => each.type === 'aws:ec2/vpc:Vpc')).toEqual([]);
    const group = built.one('aws:ec2/securityGroup:SecurityGroup');
    expect(group.inputs).toMatchObject({ vpcId: 'vpc-0a1b2c3d' });
    expect(group.inputs).not.toHaveProperty('ingress');
    expect(group.inputs).not.toHaveProperty('egress');
    expect(built.one('aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule')).toMatchObject({
      name: 'hooks-from-n8n',
      inputs: {
        securityGroupId: 'hooks-server-id',
        referencedSecurityGroupId: 'sg-0a1b2c3d',
        ipProtocol: 'tcp',
        fromPort: 15_432,
        toPort: 15_432,
        description: 'n8n to Postgres',
      },
    });
    expect(built.one('aws:rds/subnetGroup:SubnetGroup').inputs).toMatchObject({
      subnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
    });
  });

  it('forces TLS by its parameters', () => {
    const group = built.one('aws:rds/parameterGroup:ParameterGroup');
    expect(group.inputs).toMatchObject({ family: 'postgres17' });
    expect(group.inputs['parameters']).toContainEqual({
      name: 'rds.force_ssl',
      value: '1',
      applyMethod: 'pending-reboot',
    });
  });

  it('is backed up by a plan that names it', () => {
    expect(built.one('aws:backup/selection:Selection').inputs).toMatchObject({
      planId: 'hooks-backups-id',
      resources: [built.one(type).state['arn']],
    });
    expect(built.one('aws:backup/vault:Vault').inputs).toMatchObject({ kmsKeyArn: key.state['arn'] });
  });
});

describe('cheaper settings', () => {
  it('leave out the standby, the backup plan and the larger class', async () => {
    const built = await build({
      ...existingVpc,
      size: 'tiny',
      protection: { multiAz: false, backupPlan: false },
      storage: { gib: 40, maxGib: 60 },
      majorUpgrade: true,
    });
    expect(built.one(type).inputs).toMatchObject({
      instanceClass: 'db.t4g.micro',
      multiAz: false,
      allocatedStorage: 40,
      maxAllocatedStorage: 60,
      allowMajorVersionUpgrade: true,
      applyImmediately: true,
    });
    expect(built.made.filter((each) => each.type.startsWith('aws:backup/'))).toEqual([]);
  });
});
