import * as aws from '@pulumi/aws';
import type * as pulumi from '@pulumi/pulumi';
import type { Network } from './network.ts';
import type { Place } from './place.ts';
import type { AwsSettings } from './settings.ts';
import { planSubnets } from './subnets.ts';

/** One who may open connections to the database's port, and nothing else. */
export interface Client {
  /** The end of the rule's name and the beginning of its description. */
  label: string;
  from: { securityGroup: pulumi.Input<string> } | { cidr: string };
}

/**
 * Who may reach the database: the named security groups and networks, and in a VPC of our own its workload
 * subnets, in which only n8n stands until somebody puts more there.
 */
export function planClients({ allow, network }: Pick<AwsSettings, 'allow' | 'network'>): Client[] {
  const own = network.kind === 'own' ? planSubnets(network.cidr, network.zones) : [];
  return [
    ...Object.entries(allow.securityGroups).map(([label, id]) => ({ label, from: { securityGroup: id } })),
    ...Object.entries(allow.cidrs).map(([label, cidr]) => ({ label, from: { cidr } })),
    ...own
      .filter(({ kind }) => kind === 'workload')
      .map(({ role, cidr }) => ({ label: `own-${role}`, from: { cidr } })),
  ];
}

export interface Access {
  group: aws.ec2.SecurityGroup;
  rules: aws.vpc.SecurityGroupIngressRule[];
  subnetGroup: aws.rds.SubnetGroup;
}

/** The server's security group. It has no rule for the way out: a database opens no connections. */
export function makeAccess(place: Place, network: Network): Access {
  const { name, parent, settings, tags } = place;
  const group = new aws.ec2.SecurityGroup(
    `${name}-server`,
    { vpcId: network.vpcId, description: `The Postgres server of ${name}`, tags },
    { parent },
  );
  const rules = planClients(settings).map(({ label, from }) => {
    const source =
      'securityGroup' in from
        ? { referencedSecurityGroupId: from.securityGroup }
        : from.cidr.includes(':')
          ? { cidrIpv6: from.cidr }
          : { cidrIpv4: from.cidr };
    const port = settings.port;
    const description = `${label} to Postgres`;
    return new aws.vpc.SecurityGroupIngressRule(
      `${name}-from-${label}`,
      {
        securityGroupId: group.id,
        ipProtocol: 'tcp',
        fromPort: port,
        toPort: port,
        description,
        ...source,
        tags,
      },
      { parent },
    );
  });
  const subnetGroup = new aws.rds.SubnetGroup(
    `${name}-subnets`,
    { subnetIds: network.dbSubnetIds, description: `The Postgres server of ${name}`, tags },
    { parent },
  );
  return { group, rules, subnetGroup };
}
