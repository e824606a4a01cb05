import { describe, expect, test } from 'vitest';
import type { ResolvedSource } from '../../../src/generate/resolve.ts';
import { sourceWorkflow } from '../../../src/generate/source/workflow.ts';
import type { Workflow } from '../../../src/workflow/types.ts';
import { exchangeCatalogue } from '../../fixtures/exchange.ts';
import { issuesOf } from '../config/issues.ts';
import { problems } from './checks.ts';
import { type RawSource, resolved } from './sources.ts';

const ACKS = ['after-claim', 'after-success'] as const;
const source = (raw: RawSource): ResolvedSource =>
  resolved('s', { secrets: ['SECRET'], ...raw }, {}, exchangeCatalogue);
const node = (workflow: Workflow, name: string) => workflow.nodes.find((one) => one.name === name);
const wires = (workflow: Workflow, name: string) =>
  workflow.connections[name]?.main.map((output) => output.map(({ node: to }) => to));

describe.each(ACKS)('%s', (ack) => {
  test.each([
    { provider: 'greeter' },
    { provider: 'asker' },
    { provider: 'asker', decide: true },
    { provider: 'guarded' },
  ])('a workflow of the right shape: %o', (raw) => {
    expect(problems(sourceWorkflow(source({ ...raw, ack })), ack)).toEqual([]);
  });
});

test('GET has an output of its own, and comes to the gate without a body and with its method', () => {
  const workflow = sourceWorkflow(source({ provider: 'greeter' }));
  expect(node(workflow, 'Webhook')?.parameters).toMatchObject({
    ...{ multipleMethods: true, httpMethod: ['POST', 'GET'] },
  });
  expect(wires(workflow, 'Webhook')).toEqual([['Raw body'], ['GET request']]);
  expect(wires(workflow, 'GET request')).toEqual([['Idempotency key'], ['Unavailable']]);
  expect(JSON.stringify(node(workflow, 'GET request')?.parameters)).toContain(
    '{{ $json.executionMode }} GET',
  );
  const without = sourceWorkflow(source({ provider: 'asker' }));
  expect(node(without, 'Webhook')?.parameters).toMatchObject({ httpMethod: 'POST' });
  expect(node(without, 'GET request')).toBeUndefined();
});

test('a question goes to the user’s nodes only where the source says so, and the refusal lies below them', () => {
  const asked = sourceWorkflow(source({ provider: 'asker', decide: true }));
  expect(wires(asked, 'New event?')?.[1]).toEqual(['Question?']);
  expect(wires(asked, 'Question?')).toEqual([['Your decision', 'Answer'], ['Answer']]);
  expect(wires(asked, 'Your decision')).toEqual([['Answer question']]);
  const y = (name: string) => node(asked, name)?.position[1] ?? Number.NaN;
  expect(y('Answer')).toBeGreaterThan(y('Answer question'));
  expect(y('Answer')).toBeGreaterThan(y('Your decision'));
  const refused = sourceWorkflow(source({ provider: 'asker' }));
  expect(wires(refused, 'New event?')?.[1]).toEqual(['Answer']);
  expect(node(refused, 'Question?')).toBeUndefined();
});

interface Fields {
  assignments: { assignments: { value: unknown }[] };
}

describe('the example of a decision', () => {
  const asker = exchangeCatalogue.load('asker');
  const [question] = asker.questions;
  const fieldsOf = (refuses: (string | undefined)[]) => {
    const questions = refuses.flatMap((body, index) =>
      question
        ? [{ ...question, name: `q${index}`, refuse: body === undefined ? {} : { status: 402, body } }]
        : [],
    );
    const providerFile = { ...asker, questions };
    const workflow = sourceWorkflow({ ...source({ provider: 'asker', decide: true }), providerFile });
    const set = node(workflow, 'Your decision')?.parameters as Fields | undefined;
    return set?.assignments.assignments.map(({ value }) => value);
  };
  const asItCame = ['={{ $json.code }}', '={{ $json.answer }}'];

  test('is the refusal as text to be changed, or as it came where there is no one text', () => {
    expect(fieldsOf(['{{"code":13}}'])).toEqual([402, '{"code":13}']);
    expect(fieldsOf(['no', 'no'])).toEqual([402, 'no']);
    expect(fieldsOf(['no', 'never'])).toEqual(asItCame);
    expect(fieldsOf(['not {body.id}'])).toEqual(asItCame);
    expect(fieldsOf([undefined])).toEqual(asItCame);
    expect(fieldsOf(['={{{{ 1 }}}}'])).toEqual(asItCame);
  });
});

test('the content type is looked at where an answer has one of its own', () => {
  const type = (raw: RawSource) => JSON.stringify(node(sourceWorkflow(source(raw)), 'Answer')?.parameters);
  expect(type({ provider: 'greeter' })).toContain('$json.content_type');
  expect(type({ provider: 'guarded' })).not.toContain('$json.content_type');
});

test('a decision needs a question, and a guard what could be guarded', () => {
  expect(issuesOf(() => source({ provider: 'greeter', decide: true })).map(({ path }) => path)).toEqual([
    'sources.s.decide',
  ]);
  expect(source({ provider: 'greeter', guard: true }).rules).toMatchObject({ guard: true });
  expect(source({ provider: 'guarded', guard: false }).rules).toBeNull();
  const batch = {
    list: () => ['batch'],
    load: () => ({ ...exchangeCatalogue.load('asker'), items: 'body.*', slug: 'batch' }),
  };
  const guarded = () => resolved('s', { provider: 'batch', secrets: ['SECRET'], guard: true }, {}, batch);
  expect(issuesOf(guarded).map(({ path }) => path)).toEqual(['sources.s.guard']);
});
