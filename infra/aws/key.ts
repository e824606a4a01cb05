import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';

/** Facts that a key's or a topic's policy is made of. */
export interface AccountFacts {
  accountId: string;
  region: string;
  partition: string;
}

/**
 * The policy of the key: the account's IAM decides who may use it; beyond that the log service for RDS's log
 * groups, and the two services that send to an encrypted topic. No principal is a wildcard.
 */
export function keyPolicy({ accountId, region, partition }: AccountFacts): string {
  const allow = (sid: string, principal: object, actions: string[], condition?: object) => ({
    Sid: sid,
    Effect: 'Allow',
    Principal: principal,
    Action: actions,
    Resource: '*',
    ...(condition ? { Condition: condition } : {}),
  });
  const send = ['kms:Decrypt', 'kms:GenerateDataKey*'];
  const logGroups = `arn:${partition}:logs:${region}:${accountId}:log-group:/aws/rds/*`;
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      allow('Account', { AWS: `arn:${partition}:iam::${accountId}:root` }, ['kms:*']),
      allow(
        'Logs',
        { Service: `logs.${region}.amazonaws.com` },
        ['kms:Encrypt*', 'kms:Decrypt*', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:Describe*'],
        { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
      ),
      // Without these two, alarms and events for the encrypted topic are dropped in silence.
      allow('Alarms', { Service: 'cloudwatch.amazonaws.com' }, send, {
        StringEquals: { 'aws:SourceAccount': accountId },
      }),
      allow('Events', { Service: 'events.rds.amazonaws.com' }, send),
    ],
  });
}

/**
 * One key for storage, snapshots, insights, the admin's secret, logs and the topic. Where a final snapshot is to
 * remain, so must the key: a snapshot whose key is gone can be read by nobody.
 */
export function makeKey(place: Place): aws.kms.Key {
  const { name, parent, settings, accountId, region, partition, tags } = place;
  return new aws.kms.Key(
    `${name}-key`,
    {
      description: `Encrypts what belongs to the Postgres server ${name}.`,
      enableKeyRotation: true,
      deletionWindowInDays: 30,
      policy: pulumi.output({ accountId, region, partition }).apply(keyPolicy),
      tags,
    },
    {
      parent,
      protect: settings.protection.deletion,
      retainOnDelete: settings.protection.finalSnapshot,
    },
  );
}
