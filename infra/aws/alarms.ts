import * as aws from '@pulumi/aws';
import type * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';
import type { AwsSettings } from './settings.ts';
import { maxConnections, memoryGib } from './sizes.ts';

/** One alarm, without the server that it watches. */
export interface AlarmPlan {
  /** The end of the child's name. */
  role: 'cpu' | 'memory' | 'storage' | 'connections' | 'transaction-ids' | 'capacity';
  metric: string;
  /** `above` or `below` the threshold, in the metric's own unit. */
  when: 'above' | 'below';
  threshold: number;
  /** What it means and what to do; stands in the mail. */
  description: string;
  /** Whether the metric belongs to a cluster's storage rather than to its writer. */
  ofVolume?: true;
}

const gib = 2 ** 30;
const minutes = 5;

/** The alarms of a server. Each looks at averages of five minutes and waits for three of them in a row. */
export function planAlarms(settings: Pick<AwsSettings, 'server' | 'size' | 'storage'>): readonly AlarmPlan[] {
  const { server, size, storage } = settings;
  const common: AlarmPlan[] = [
    {
      role: 'cpu',
      metric: 'CPUUtilization',
      when: 'above',
      threshold: 80,
      description: 'The CPU is above 80 %: look at Database Insights, or choose a larger aws.size.',
    },
    {
      role: 'memory',
      metric: 'FreeableMemory',
      when: 'below',
      threshold: (memoryGib(server, size) * gib) / 10,
      description: 'Less than a tenth of the memory is free: choose a larger aws.size.',
    },
    {
      role: 'connections',
      metric: 'DatabaseConnections',
      when: 'above',
      threshold: maxConnections(server, size) * 0.8,
      description:
        "More than 80 % of the connections are taken: look at n8n's pool, or choose a larger aws.size.",
    },
    {
      role: 'transaction-ids',
      metric: 'MaximumUsedTransactionIDs',
      when: 'above',
      threshold: 1_000_000_000,
      description: 'Vacuum falls behind; the server stops writing at two billion: look for old transactions.',
    },
  ];
  if (server === 'instance') {
    const description = 'Little storage is free although it grows by itself: raise aws.storage.maxGib.';
    const threshold = (storage.gib * gib) / 10;
    return [
      ...common,
      { role: 'storage', metric: 'FreeStorageSpace', when: 'below', threshold, description },
    ];
  }
  return [
    ...common,
    {
      role: 'capacity',
      metric: 'ACUUtilization',
      when: 'above',
      threshold: 90,
      description: 'The capacity is nearly used up: choose a larger aws.size.',
    },
    {
      role: 'storage',
      metric: 'VolumeBytesUsed',
      when: 'above',
      threshold: storage.maxGib * gib,
      description: 'The data outgrew aws.storage.maxGib; Aurora goes on growing, and so does its price.',
      ofVolume: true,
    },
  ];
}

/** @param identifier the name at AWS of the instance, or of the cluster (whose writer is watched) */
export function makeAlarms(
  place: Place,
  identifier: pulumi.Output<string>,
  topicArn: pulumi.Input<string>,
): aws.cloudwatch.MetricAlarm[] {
  const { name, parent, settings, tags } = place;
  const dimensions = (plan: AlarmPlan): Record<string, pulumi.Input<string>> => {
    if (settings.server === 'instance') return { DBInstanceIdentifier: identifier };
    return plan.ofVolume
      ? { DBClusterIdentifier: identifier }
      : { DBClusterIdentifier: identifier, Role: 'WRITER' };
  };
  return planAlarms(settings).map(
    (plan) =>
      new aws.cloudwatch.MetricAlarm(
        `${name}-alarm-${plan.role}`,
        {
          namespace: 'AWS/RDS',
          metricName: plan.metric,
          dimensions: dimensions(plan),
          statistic: 'Average',
          period: minutes * 60,
          evaluationPeriods: 3,
          comparisonOperator: plan.when === 'above' ? 'GreaterThanThreshold' : 'LessThanThreshold',
          threshold: plan.threshold,
          alarmDescription: plan.description,
          alarmActions: [topicArn],
          okActions: [topicArn],
          tags,
        },
        { parent },
      ),
  );
}
