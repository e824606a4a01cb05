import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roleOf } from '../../../src/generate/marker.ts';
import { NODE } from '../../../src/generate/source/names.ts';
import { executionTimeout, sourceWorkflow } from '../../../src/generate/source/workflow.ts';
import { serialise } from '../../../src/workflow/serialise.ts';
import type { Json, Workflow } from '../../../src/workflow/types.ts';
import { problems } from './checks.ts';
import { KINDS, RAW, type RawSource, resolved, STATEMENTS } from './sources.ts';

const ACKS = ['after-claim', 'after-success'] as const;
const CASES = Object.entries(KINDS).flatMap(([name, raw]) => ACKS.map((ack) => ({ name, raw, ack })));

function node(workflow: Workflow, name: string) {
  const found = workflow.nodes.find((one) => one.name === name);
  if (!found) {
    throw new Error(`No node "${name}"`);
  }
  return found;
}

function options(workflow: Workflow, name: string): Record<string, Json> {
  return node(workflow, name).parameters['options'] as Record<string, Json>;
}

describe.each(CASES)('$name, $ack', ({ name, raw, ack }) => {
  const source = resolved(name, { ...raw, ack });

  test('is the workflow that was looked at', () => {
    expect(JSON.parse(serialise(sourceWorkflow(source, STATEMENTS)))).toMatchSnapshot();
  });

  test('has the right shape, with the real statements', () => {
    expect(problems(sourceWorkflow(source), ack)).toEqual([]);
  });

  test('is the same bytes for the same input', () => {
    const again = resolved(name, { ack, ...Object.fromEntries(Object.entries(raw).reverse()) });
    expect(serialise(sourceWorkflow(again))).toBe(serialise(sourceWorkflow(source)));
  });

  test('can be told by its notes, as after a paste', () => {
    const nodes = sourceWorkflow(source).nodes.filter(({ type }) => !type.endsWith('stickyNote'));
    const roles = nodes.map(roleOf);
    expect(roles).not.toContain(undefined);
    expect(new Set(roles).size).toBe(nodes.length);
    for (const { name } of nodes) expect(Object.values(NODE)).toContain(name);
  });
});

const word = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,39}$/);
const text = fc.string({ minLength: 1, maxLength: 60 });
const addresses = fc.option(fc.uniqueArray(fc.ipV4(), { minLength: 1, maxLength: 40 }), { nil: undefined });

/** Valid configs of one source, of all providers and all kinds of texts. */
const configs = fc
  .record({
    name: word,
    base: fc.constantFrom<RawSource>(...Object.values(KINDS)),
    id: word,
    ack: fc.constantFrom(...ACKS),
    lease: fc.oneof(
      fc.integer({ min: 2, max: 86_400 }).map((seconds) => `${seconds}s`),
      fc.constant('24h'),
    ),
    path: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}(\/[A-Za-z0-9_-]{1,20}){0,3}$/),
    literal: text.map((value) => value.replace(/[{}]/g, '')),
    addresses: addresses.map((list) => list?.filter((one) => !/^(127|0)\./.test(one))),
    project: word,
    credential: text,
  })
  .map(({ base, name, literal, addresses: list, project, credential, ...rest }) => {
    const raw: RawSource = { ...base, ...rest, key: `${literal}{body.id}` };
    if (list?.length) {
      raw['addresses'] = list;
    }
    return { name, raw, ack: rest.ack, more: { project, credential } };
  });

describe('any valid config', () => {
  test('gives a workflow of the right shape', () => {
    fc.assert(
      fc.property(configs, ({ name, raw, ack, more }) => {
        const source = resolved(name, raw, more);
        const workflow = sourceWorkflow(source, STATEMENTS);
        expect(problems(workflow, ack)).toEqual([]);
        const timeout = Number(workflow.settings['executionTimeout']);
        expect(timeout).toBeGreaterThanOrEqual(1);
        expect(timeout).toBeLessThan(source.leaseSeconds);
      }),
    );
  }, 60_000);

  test('keeps ids, webhookId and name of every node when all but project and id changes', () => {
    const identity = ({ id, nodes }: Workflow) => [
      id,
      ...nodes.map((one) => [one.id, one.webhookId, one.name]),
    ];
    fc.assert(
      fc.property(configs, configs, (a, b) => {
        // What a source is of follows from its provider.
        const raw = {
          ...b.raw,
          provider: a.raw['provider'],
          secrets: a.raw['secrets'],
          id: a.raw['id'],
          ack: a.ack,
        };
        const [one, two] = [
          resolved(a.name, a.raw, a.more),
          resolved(b.name, raw, { ...b.more, project: a.more.project }),
        ].map((source) => sourceWorkflow(source, STATEMENTS));
        expect(two && identity(two)).toEqual(one && identity(one));
      }),
    );
  }, 60_000);

  test('never lets n8n evaluate a recipe', () => {
    const workflow = sourceWorkflow(resolved('x', { ...RAW.stripe, key: '=1+1{body.id}' }, {}), STATEMENTS);
    const { assignments } = node(workflow, 'Idempotency key').parameters['assignments'] as {
      assignments: { name: string; value: string }[];
    };
    const recipe = assignments.find(({ name }) => name === 'recipe');
    expect(recipe?.value).toBe('\n=1+1{body.id}');
  });
});

describe('secrets', () => {
  test('stay out of the file, and so do their names', () => {
    process.env['STRIPE_WEBHOOK_SECRET'] = 'whsec_never_in_a_file';
    const file = serialise(sourceWorkflow(resolved('stripe', RAW.stripe)));
    expect(file).not.toContain('whsec_never_in_a_file');
    expect(file).not.toContain('STRIPE_WEBHOOK_SECRET');
  });
});

describe('the parts', () => {
  const claim = sourceWorkflow(resolved('stripe', RAW.stripe));
  const success = sourceWorkflow(resolved('stripe', { ...RAW.stripe, ack: 'after-success' }));
  const behind = (workflow: Workflow, name: string) =>
    workflow.connections[name]?.main[0]?.map((wire) => wire.node);

  test('follow one another in the order of the acknowledgement', () => {
    expect(['New event?', 'Acknowledge', 'Your business logic'].map((name) => behind(claim, name))).toEqual([
      ['Acknowledge'],
      ['Your business logic'],
      ['Mark success'],
    ]);
    expect(
      ['New event?', 'Your business logic', 'Mark success'].map((name) => behind(success, name)),
    ).toEqual([['Your business logic'], ['Mark success'], ['Acknowledge']]);
  });

  test('answer 503 to what is no row of the ledger', () => {
    expect(options(claim, 'Answer')['responseCode']).toBe('={{ $json.code ?? 503 }}');
    expect(options(claim, 'Unavailable')['responseCode']).toBe(503);
    expect(options(success, 'Acknowledge')['responseCode']).toBe(
      `={{ $json.status === 'success' ? 200 : 503 }}`,
    );
  });

  test('evaluate nothing where a plain value does', () => {
    const expressions = (name: string) => JSON.stringify(node(claim, name).parameters).split('"=').length - 1;
    expect(['Webhook', 'Raw body', 'Idempotency key', 'Unavailable'].map(expressions)).toEqual([0, 0, 0, 0]);
    expect(expressions('Acknowledge')).toBe(2);
  });

  test('list the addresses of a source that has them', () => {
    const listed = sourceWorkflow(
      resolved('shop', { provider: 'yookassa', addresses: ['203.0.113.7', '10.0.0.0/8'] }),
    );
    expect(options(listed, 'Webhook')).toEqual({ rawBody: true, ipWhitelist: '203.0.113.7, 10.0.0.0/8' });
    const open = sourceWorkflow(resolved('shop', { provider: 'yookassa', addresses: 'any' }));
    expect(options(open, 'Webhook')).toEqual({ rawBody: true });
  });

  test('use the wording that the provider insists on', () => {
    const answers = {
      new: { status: 202, content_type: 'text/plain' },
      reclaimed: { status: 202, content_type: 'text/plain' },
      rejected: { content_type: 'text/html' },
    };
    const worded = sourceWorkflow({ ...resolved('stripe', RAW.stripe), answers });
    expect(options(worded, 'Acknowledge')['responseCode']).toBe(202);
    expect(JSON.stringify(options(worded, 'Acknowledge'))).toContain('text/plain');
    expect(JSON.stringify(options(worded, 'Answer'))).toContain('$json.content_type');
    const mixed = sourceWorkflow({ ...resolved('stripe', RAW.stripe), answers: { new: { status: 201 } } });
    expect(options(mixed, 'Acknowledge')['responseCode']).toBe('={{ $json.code }}');
  });

  test.each([
    [2, 1],
    [20, 19],
    [900, 855],
    [86_400, 82_080],
  ])('end a run with a lease of %i s after %i s', (lease, timeout) => {
    expect(executionTimeout(lease)).toBe(timeout);
  });
});
