import * as aws from '@pulumi/aws';
import type * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';
import type { ServerKind } from './sizes.ts';

/** RDS's own messages about one kind of thing. */
export interface EventPlan {
  /** The end of the child's name. */
  role: string;
  sourceType: 'db-instance' | 'db-cluster' | 'db-parameter-group' | 'db-security-group';
  categories: readonly string[];
  /** Of our own server only; the other two kinds are heard of in the whole account, as AWS's rules ask. */
  ours: boolean;
}

/** Which events are passed on: what can stop a server or loosen it. */
export function planEvents(server: ServerKind): readonly EventPlan[] {
  const account: EventPlan[] = [
    {
      role: 'parameters',
      sourceType: 'db-parameter-group',
      categories: ['configuration change'],
      ours: false,
    },
    {
      role: 'security-groups',
      sourceType: 'db-security-group',
      categories: ['configuration change', 'failure'],
      ours: false,
    },
  ];
  const instances: EventPlan = {
    role: 'instances',
    sourceType: 'db-instance',
    categories: ['availability', 'configuration change', 'failover', 'failure', 'low storage', 'maintenance'],
    ours: true,
  };
  if (server === 'instance') return [instances, ...account];
  const cluster: EventPlan = {
    role: 'cluster',
    sourceType: 'db-cluster',
    categories: ['failover', 'failure', 'maintenance'],
    ours: true,
  };
  return [cluster, instances, ...account];
}

/** @param sources the names at AWS of what is ours, by kind */
export function makeEvents(
  place: Place,
  topicArn: pulumi.Input<string>,
  sources: Partial<Record<EventPlan['sourceType'], pulumi.Input<string>[]>>,
): void {
  const { name, parent, settings, tags } = place;
  for (const { role, sourceType, categories, ours } of planEvents(settings.server)) {
    const sourceIds = ours ? { sourceIds: sources[sourceType] ?? [] } : {};
    new aws.rds.EventSubscription(
      `${name}-events-${role}`,
      { snsTopic: topicArn, sourceType, eventCategories: [...categories], ...sourceIds, tags },
      { parent },
    );
  }
}
