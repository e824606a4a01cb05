import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';

/** Who may send to the topic: alarms and RDS's events of this account. */
export function topicPolicy(topicArn: string, accountId: string): string {
  const allow = (sid: string, service: string) => ({
    Sid: sid,
    Effect: 'Allow',
    Principal: { Service: service },
    Action: 'sns:Publish',
    Resource: topicArn,
    Condition: { StringEquals: { 'aws:SourceAccount': accountId } },
  });
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [allow('Alarms', 'cloudwatch.amazonaws.com'), allow('Events', 'events.rds.amazonaws.com')],
  });
}

/** Where alarms and events go: the user's own topic, or a new one that mails. Its ARN. */
export function makeTopic(place: Place, key: aws.kms.Key): pulumi.Input<string> {
  const { name, parent, settings, accountId, tags } = place;
  const { email, topicArn } = settings.alarms;
  if (topicArn !== undefined) return topicArn;
  const topic = new aws.sns.Topic(`${name}-alarms`, { kmsMasterKeyId: key.arn, tags }, { parent });
  new aws.sns.TopicPolicy(
    `${name}-alarms-senders`,
    {
      arn: topic.arn,
      policy: pulumi.all([topic.arn, accountId]).apply(([arn, account]) => topicPolicy(arn, account)),
    },
    { parent },
  );
  if (email !== undefined) {
    new aws.sns.TopicSubscription(
      `${name}-alarms-mail`,
      { topic: topic.arn, protocol: 'email', endpoint: email },
      { parent },
    );
  }
  return topic.arn;
}
