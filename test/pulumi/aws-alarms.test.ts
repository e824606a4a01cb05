import { describe, expect, it } from 'vitest';
import { account, build, existingVpc, identifier, ownVpc } from './aws/mocks.ts';

const alarmType = 'aws:cloudwatch/metricAlarm:MetricAlarm';

describe('with an address', async () => {
  const built = await build(existingVpc);

  it('an encrypted topic mails it', () => {
    const key = built.one('aws:kms/key:Key');
    const topic = built.one('aws:sns/topic:Topic');
    expect(topic.inputs).toMatchObject({ kmsMasterKeyId: key.state['arn'] });
    expect(built.one('aws:sns/topicSubscription:TopicSubscription').inputs).toEqual({
      topic: topic.state['arn'],
      protocol: 'email',
      endpoint: 'ops@example.com',
    });
    const { inputs } = built.one('aws:sns/topicPolicy:TopicPolicy');
    expect(JSON.parse(String(inputs['policy'])).Statement[0]).toMatchObject({ Resource: topic.state['arn'] });
  });

  it('every alarm watches the server and goes to the topic, and so does its end', () => {
    const topic = built.one('aws:sns/topic:Topic').state['arn'];
    const alarms = built.made.filter(({ type }) => type === alarmType);
    expect(alarms.map(({ name }) => name)).toEqual(
      ['cpu', 'memory', 'connections', 'transaction-ids', 'storage'].map((role) => `hooks-alarm-${role}`),
    );
    for (const { name, inputs } of alarms) {
      expect(inputs, name).toMatchObject({
        namespace: 'AWS/RDS',
        dimensions: { DBInstanceIdentifier: identifier },
        alarmActions: [topic],
        okActions: [topic],
        period: 300,
        evaluationPeriods: 3,
      });
    }
  });

  it.each([
    ['storage', 'FreeStorageSpace', 'LessThanThreshold', 2 * 2 ** 30],
    ['memory', 'FreeableMemory', 'LessThanThreshold', 0.2 * 2 ** 30],
    ['cpu', 'CPUUtilization', 'GreaterThanThreshold', 80],
    ['connections', 'DatabaseConnections', 'GreaterThanThreshold', 80],
    ['transaction-ids', 'MaximumUsedTransactionIDs', 'GreaterThanThreshold', 1e9],
  ])('the alarm %s fires on the right side', (role, metricName, comparisonOperator, threshold) => {
    expect(built.one(alarmType, `hooks-alarm-${role}`).inputs).toMatchObject({
      metricName,
      comparisonOperator,
      threshold,
    });
  });

  it('events of the server go there too', () => {
    const events = built.made.filter(({ type }) => type === 'aws:rds/eventSubscription:EventSubscription');
    expect(Object.fromEntries(events.map(({ name, inputs }) => [name, inputs['sourceIds']]))).toEqual({
      'hooks-events-instances': [identifier],
      'hooks-events-parameters': undefined,
      'hooks-events-security-groups': undefined,
    });
    for (const { inputs } of events)
      expect(inputs['snsTopic']).toBe(built.one('aws:sns/topic:Topic').state['arn']);
  });
});

it('a topic that is there gets all of it, and none is made', async () => {
  const built = await build(ownVpc);
  expect(built.made.filter(({ type }) => type.startsWith('aws:sns/'))).toEqual([]);
  const topic = `arn:aws:sns:eu-central-1:${account}:ops`;
  for (const { inputs } of built.made.filter(({ type }) => type === alarmType)) {
    expect(inputs['alarmActions']).toEqual([topic]);
  }
});
