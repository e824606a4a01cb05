import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { build, existingVpc, ownVpc, value } from './aws/mocks.ts';

const types = {
  vpc: 'aws:ec2/vpc:Vpc',
  subnet: 'aws:ec2/subnet:Subnet',
  rule: 'aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule',
  association: 'aws:ec2/routeTableAssociation:RouteTableAssociation',
};

describe('a VPC of its own', async () => {
  const built = await build(ownVpc);
  const of = (type: string) => built.made.filter((each) => each.type === type);

  it('has a subnet of each kind in two zones, none with public addresses by itself', () => {
    expect(built.one(types.vpc).inputs).toMatchObject({
      cidrBlock: '10.83.0.0/24',
      enableDnsHostnames: true,
    });
    const subnets = of(types.subnet).map(({ name, inputs }) => [
      name,
      inputs['cidrBlock'],
      inputs['availabilityZone'],
    ]);
    expect(subnets).toEqual([
      ['hooks-db-1', '10.83.0.0/27', 'eu-central-1a'],
      ['hooks-db-2', '10.83.0.32/27', 'eu-central-1b'],
      ['hooks-workload-1', '10.83.0.128/27', 'eu-central-1a'],
      ['hooks-workload-2', '10.83.0.160/27', 'eu-central-1b'],
    ]);
    for (const { inputs } of of(types.subnet)) expect(inputs).not.toHaveProperty('mapPublicIpOnLaunch');
  });

  it('keeps a subnet in its zone whatever zones AWS opens later', () => {
    for (const { name } of of(types.subnet)) {
      expect(built.options.get(name)?.ignoreChanges, name).toEqual(['availabilityZone']);
    }
  });

  it('gives the way to the internet to workloads alone, and the database to the other subnets', () => {
    expect(of(types.association).map(({ inputs }) => inputs['subnetId'])).toEqual([
      'hooks-workload-1-id',
      'hooks-workload-2-id',
    ]);
    expect(built.one('aws:rds/subnetGroup:SubnetGroup').inputs).toMatchObject({
      subnetIds: ['hooks-db-1-id', 'hooks-db-2-id'],
    });
  });

  it('closes the group that every VPC has', () => {
    const closed = built.one('aws:ec2/defaultSecurityGroup:DefaultSecurityGroup').inputs;
    expect(closed).toMatchObject({ vpcId: 'hooks-vpc-id' });
    expect(closed).not.toHaveProperty('ingress');
    expect(closed).not.toHaveProperty('egress');
  });

  it('lets in its own workload subnets', () => {
    expect(of(types.rule).map(({ name, inputs }) => [name, inputs['cidrIpv4']])).toEqual([
      ['hooks-from-own-workload-1', '10.83.0.128/27'],
      ['hooks-from-own-workload-2', '10.83.0.160/27'],
    ]);
  });

  it('says where n8n can stand', async () => {
    expect(await value(built.server.vpcId)).toBe('hooks-vpc-id');
    expect(await value(built.server.workloadSubnetIds)).toEqual([
      'hooks-workload-1-id',
      'hooks-workload-2-id',
    ]);
  });
});

it('lets in every client that the settings name, by group, IPv4 and IPv6', async () => {
  const built = await build({
    ...existingVpc,
    allow: {
      securityGroups: { n8n: 'sg-0a1b2c3d' },
      cidrs: { office: '203.0.113.0/24', lab: '2001:db8::/48' },
    },
  });
  const rules = built.made.filter((each) => each.type === types.rule);
  expect(rules.map(({ name, inputs }) => [name, inputs['cidrIpv4'], inputs['cidrIpv6']])).toEqual([
    ['hooks-from-n8n', undefined, undefined],
    ['hooks-from-office', '203.0.113.0/24', undefined],
    ['hooks-from-lab', undefined, '2001:db8::/48'],
  ]);
});

it('takes the ids of resources that the same program makes', async () => {
  const built = await build({
    ...existingVpc,
    network: {
      kind: 'existing',
      vpcId: pulumi.output('vpc-of-the-program'),
      subnetIds: [pulumi.output('subnet-a'), pulumi.output('subnet-b')],
    },
    allow: { securityGroups: { n8n: pulumi.output('sg-of-n8n') } },
  });
  expect(built.one('aws:ec2/securityGroup:SecurityGroup').inputs).toMatchObject({
    vpcId: 'vpc-of-the-program',
  });
  expect(built.one(types.rule).inputs).toMatchObject({ referencedSecurityGroupId: 'sg-of-n8n' });
  expect(built.one('aws:rds/subnetGroup:SubnetGroup').inputs).toMatchObject({
    subnetIds: ['subnet-a', 'subnet-b'],
  });
});
