import { eventPolicies, surroundingPolicies } from './around.ts';
import { networkPolicies } from './network.ts';
import type { Policy } from './rule.ts';
import { secretPolicies } from './secrets.ts';
import { clusterPolicies, instancePolicies } from './server.ts';

export { type Policy, type Props, type StackResource, violations } from './rule.ts';

/**
 * What a Postgres server on AWS shall be like, as data. Each rule has the id of the public one that it mirrors:
 * of Checkov, or of AWS Security Hub.
 */
export const policies: readonly Policy[] = [
  ...instancePolicies,
  ...clusterPolicies,
  ...surroundingPolicies,
  ...eventPolicies,
  ...networkPolicies,
  ...secretPolicies,
];
