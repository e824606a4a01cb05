import { formatBlock, parseBlock, split } from './cidr.ts';

/** One subnet of a VPC of our own. */
export interface SubnetPlan {
  /** The end of the child's name, e.g. `db-1`; never changes for a place in the plan. */
  role: string;
  /** `db`: no way to or from the internet. `workload`: for n8n and whatever else talks to the database. */
  kind: 'db' | 'workload';
  /** Which of the region's availability zones, from 0. */
  zone: number;
  cidr: string;
}

/** Eight blocks whatever the number of zones: a zone more moves no subnet that is there already. */
const bits = 3;
const workloadsFrom = 4;

/** The longest prefix of a VPC that can be planned: AWS takes subnets of /16 to /28. */
export const longestVpcPrefix = 28 - bits;

/**
 * The subnets of a VPC of our own: the first half of its addresses for the database, the second for workloads,
 * one of each kind a zone.
 *
 * @param cidr the VPC's IPv4 network, /16 to /25
 * @param zones how many availability zones, 2 to 4
 */
export function planSubnets(cidr: string, zones: number): SubnetPlan[] {
  const vpc = parseBlock(cidr);
  if (!vpc) return [];
  const blocks = split(vpc, bits);
  return (['db', 'workload'] as const).flatMap((kind) =>
    blocks
      .slice(kind === 'db' ? 0 : workloadsFrom)
      .slice(0, zones)
      .map((block, zone) => ({ role: `${kind}-${zone + 1}`, kind, zone, cidr: formatBlock(block) })),
  );
}
