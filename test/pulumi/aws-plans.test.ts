import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planAlarms } from '../../infra/aws/alarms.ts';
import { formatBlock, parseBlock, sizeOf } from '../../infra/aws/cidr.ts';
import { planEvents } from '../../infra/aws/events.ts';
import { keyPolicy } from '../../infra/aws/key.ts';
import { trustPolicy } from '../../infra/aws/monitoring.ts';
import { planParameters } from '../../infra/aws/parameters.ts';
import { type SizeName, sizes } from '../../infra/aws/sizes.ts';
import { longestVpcPrefix, planSubnets } from '../../infra/aws/subnets.ts';
import { topicPolicy } from '../../infra/aws/topic.ts';

const servers = ['instance', 'aurora'] as const;
const sizeNames = Object.keys(sizes) as SizeName[];
const storage = { gib: 20, maxGib: 100 };

/** A network of any length, with no bits beyond its prefix. */
const blocks = (from: number, to: number) =>
  fc
    .tuple(fc.integer({ min: from, max: to }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
    .map(([prefix, address]) => ({ prefix, first: address - (address % sizeOf(prefix)) }));

describe('networks', () => {
  it('are read as they are written', () => {
    fc.assert(
      fc.property(blocks(0, 32), (block) => {
        expect(parseBlock(formatBlock(block))).toEqual(block);
      }),
    );
  });

  it.each([
    '10.0.0.1/24',
    '10.0.0.0',
    '10.0.0/24',
    '256.0.0.0/8',
    '010.0.0.0/8',
    '10.0.0.0/33',
    '10.0.0.0/024',
  ])('are not %s', (text) => expect(parseBlock(text)).toBeUndefined());
});

describe('subnets', () => {
  const plans = fc.tuple(blocks(16, longestVpcPrefix), fc.integer({ min: 2, max: 4 }));

  it('lie in their VPC, apart from each other, one of each kind a zone, of a length that AWS takes', () => {
    fc.assert(
      fc.property(plans, ([vpc, zones]) => {
        const planned = planSubnets(formatBlock(vpc), zones);
        expect(planned.map(({ kind, zone }) => `${kind}-${zone + 1}`)).toEqual(
          planned.map(({ role }) => role),
        );
        expect(new Set(planned.map(({ role }) => role)).size).toBe(2 * zones);
        const taken = planned.map(({ cidr }) => parseBlock(cidr) ?? { first: -1, prefix: 0 });
        for (const { first, prefix } of taken) {
          expect(prefix).toBeGreaterThanOrEqual(16);
          expect(prefix).toBeLessThanOrEqual(28);
          expect(first).toBeGreaterThanOrEqual(vpc.first);
          expect(first + sizeOf(prefix)).toBeLessThanOrEqual(vpc.first + sizeOf(vpc.prefix));
        }
        const inOrder = taken.toSorted((a, b) => a.first - b.first);
        inOrder.slice(1).forEach(({ first }, index) => {
          const before = inOrder[index] ?? { first: 0, prefix: 32 };
          expect(before.first + sizeOf(before.prefix)).toBeLessThanOrEqual(first);
        });
      }),
    );
  });

  it('stay where they are when a zone is added', () => {
    fc.assert(
      fc.property(blocks(16, longestVpcPrefix), fc.integer({ min: 2, max: 3 }), (vpc, zones) => {
        const cidr = formatBlock(vpc);
        expect(planSubnets(cidr, zones + 1)).toEqual(expect.arrayContaining(planSubnets(cidr, zones)));
      }),
    );
  });
});

describe.each(servers)('alarms of kind %s', (server) => {
  it.each(sizeNames)('watch all that can run out, at size %s', (size) => {
    const plans = planAlarms({ server, size, storage });
    expect(plans.map(({ role }) => role)).toEqual(
      expect.arrayContaining(['cpu', 'memory', 'storage', 'connections', 'transaction-ids']),
    );
    const at = Object.fromEntries(plans.map(({ role, threshold }) => [role, threshold]));
    const memory = server === 'aurora' ? sizes[size].aurora.maxAcu * 2 : sizes[size].instance.memoryGib;
    expect(at['memory']).toBe(memory * 0.1 * 2 ** 30);
    // Below what the parameter allows: an alarm at a number that is never reached is none.
    const allowed = planParameters({ server, size, slowQueryMs: -1 }).find(
      ({ name }) => name === 'max_connections',
    );
    expect(at['connections']).toBe(Number(allowed?.value) * 0.8);
  });
});

describe('parameters', () => {
  const values = (slowQueryMs: number) =>
    Object.fromEntries(
      planParameters({ server: 'instance', size: 'tiny', slowQueryMs }).map(({ name, value }) => [
        name,
        value,
      ]),
    );

  it('force TLS, and keep the text of statements out of the log', () => {
    expect(values(-1)).toEqual({
      'rds.force_ssl': '1',
      max_connections: '50',
      log_statement: 'ddl',
      log_min_duration_statement: '-1',
      log_min_error_statement: 'panic',
      log_lock_waits: '1',
    });
  });

  it('log slow statements where that is asked for, without their values', () => {
    expect(values(500)).toMatchObject({ log_min_duration_statement: '500', log_parameter_max_length: '0' });
  });
});

describe('events', () => {
  it('hold what Security Hub asks for, for both kinds', () => {
    for (const server of servers) {
      const bySource = Object.fromEntries(
        planEvents(server).map(({ sourceType, categories }) => [sourceType, categories]),
      );
      expect(bySource).toMatchObject({
        'db-instance': expect.arrayContaining(['maintenance', 'configuration change', 'failure']),
        'db-parameter-group': ['configuration change'],
        'db-security-group': ['configuration change', 'failure'],
      });
    }
  });
});

describe('policies of IAM', () => {
  const facts = { accountId: '123456789012', region: 'eu-central-1', partition: 'aws-us-gov' };

  it('let nobody use the key but the account and three services', () => {
    const { Statement: statements } = JSON.parse(keyPolicy(facts));
    expect(statements.map((each: { Principal: object }) => each.Principal)).toEqual([
      { AWS: 'arn:aws-us-gov:iam::123456789012:root' },
      { Service: 'logs.eu-central-1.amazonaws.com' },
      { Service: 'cloudwatch.amazonaws.com' },
      { Service: 'events.rds.amazonaws.com' },
    ]);
    expect(statements[1].Condition).toEqual({
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn':
          'arn:aws-us-gov:logs:eu-central-1:123456789012:log-group:/aws/rds/*',
      },
    });
  });

  it('let alarms and events of this account alone send to the topic', () => {
    const { Statement: statements } = JSON.parse(topicPolicy('arn:topic', facts.accountId));
    for (const each of statements) {
      expect(each).toMatchObject({
        Action: 'sns:Publish',
        Resource: 'arn:topic',
        Condition: { StringEquals: { 'aws:SourceAccount': facts.accountId } },
      });
    }
    expect(statements).toHaveLength(2);
  });

  it('bind a role to an account where its service says for whom it acts', () => {
    const [bound] = JSON.parse(trustPolicy('monitoring.rds.amazonaws.com', facts.accountId)).Statement;
    expect(bound.Condition).toEqual({ StringEquals: { 'aws:SourceAccount': facts.accountId } });
    expect(JSON.parse(trustPolicy('backup.amazonaws.com')).Statement[0]).not.toHaveProperty('Condition');
  });
});
