import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';
import type { AwsSettings } from './settings.ts';
import { planSubnets } from './subnets.ts';

export interface Network {
  vpcId: pulumi.Input<string>;
  /** Where the database stands: no way to or from the internet. */
  dbSubnetIds: pulumi.Input<string>[];
  /** Where n8n can stand; none in a VPC that was there before. */
  workloadSubnetIds: pulumi.Output<string>[];
}

type OwnNetwork = Extract<AwsSettings['network'], { kind: 'own' }>;

/** The VPC that the settings name, or a small one: subnets for the database, subnets for n8n, nothing that costs. */
export function makeNetwork(place: Place): Network {
  const { network } = place.settings;
  if (network.kind === 'own') return makeOwnNetwork(place, network);
  return { vpcId: network.vpcId, dbSubnetIds: network.subnetIds, workloadSubnetIds: [] };
}

function makeOwnNetwork(place: Place, network: OwnNetwork): Network {
  const { name, parent, tags } = place;
  const vpc = new aws.ec2.Vpc(
    `${name}-vpc`,
    { cidrBlock: network.cidr, enableDnsSupport: true, enableDnsHostnames: true, tags },
    { parent },
  );
  // The group that every VPC has lets its members talk to each other; what is put into it by mistake shall not.
  new aws.ec2.DefaultSecurityGroup(`${name}-default-closed`, { vpcId: vpc.id, tags }, { parent });
  const zones = zoneNames(parent);
  const subnets = planSubnets(network.cidr, network.zones).map((plan) => ({
    plan,
    subnet: new aws.ec2.Subnet(
      `${name}-${plan.role}`,
      {
        vpcId: vpc.id,
        cidrBlock: plan.cidr,
        availabilityZone: zones.apply((names) => zoneAt(names, plan.zone)),
        tags: { ...tags, Name: `${name}-${plan.role}` },
      },
      // A zone that AWS opens later changes the order of the list; subnets stay where they are.
      { parent, ignoreChanges: ['availabilityZone'] },
    ),
  }));
  const idsOf = (kind: 'db' | 'workload') =>
    subnets.filter(({ plan }) => plan.kind === kind).map(({ subnet }) => subnet.id);
  makeWayOut(
    place,
    vpc,
    subnets.filter(({ plan }) => plan.kind === 'workload'),
  );
  return { vpcId: vpc.id, dbSubnetIds: idsOf('db'), workloadSubnetIds: idsOf('workload') };
}

type Made = { plan: { role: string }; subnet: aws.ec2.Subnet }[];

/** n8n needs the internet; the database's subnets get no route there. */
function makeWayOut({ name, parent, tags }: Place, vpc: aws.ec2.Vpc, workloads: Made): void {
  const gateway = new aws.ec2.InternetGateway(`${name}-gateway`, { vpcId: vpc.id, tags }, { parent });
  const table = new aws.ec2.RouteTable(`${name}-workload-routes`, { vpcId: vpc.id, tags }, { parent });
  new aws.ec2.Route(
    `${name}-workload-out`,
    { routeTableId: table.id, destinationCidrBlock: '0.0.0.0/0', gatewayId: gateway.id },
    { parent },
  );
  for (const { plan, subnet } of workloads) {
    new aws.ec2.RouteTableAssociation(
      `${name}-${plan.role}-routes`,
      { routeTableId: table.id, subnetId: subnet.id },
      { parent },
    );
  }
}

/** The region's own availability zones, without Local Zones, which have no RDS. */
function zoneNames(parent: pulumi.Resource): pulumi.Output<string[]> {
  const filters = [{ name: 'opt-in-status', values: ['opt-in-not-required'] }];
  return aws.getAvailabilityZonesOutput({ state: 'available', filters }, { parent }).names;
}

function zoneAt(names: readonly string[], index: number): string {
  const zone = names[index];
  if (zone !== undefined) return zone;
  throw new pulumi.RunError(
    `aws.network.zones: this region offers ${names.length} availability zones to this account.\n` +
      '  remedy: Set aws.network.zones lower, or choose another region.',
  );
}
