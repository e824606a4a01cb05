import { describe, expect, test } from 'vitest';
import { sourceWorkflow } from '../../../src/generate/source/workflow.ts';
import { editsOf, stamp, stampOf } from '../../../src/generate/stamp.ts';
import { serialise } from '../../../src/workflow/serialise.ts';
import { RAW, resolved, STATEMENTS } from './sources.ts';

const owner = { generator: '1.2.3', project: 'shop', source: 'stripe' };
const file = serialise(stamp(sourceWorkflow(resolved('stripe', RAW.stripe), STATEMENTS), owner));

interface Loose {
  name: string;
  nodes: { name: string; parameters: Record<string, unknown> }[];
  connections: Record<string, unknown>;
  settings: Record<string, unknown>;
  meta?: unknown;
}

function edited(change: (workflow: Loose) => void): string {
  const workflow = JSON.parse(file) as Loose;
  change(workflow);
  return JSON.stringify(workflow);
}

describe('the stamp', () => {
  test('says whose file it is', () => {
    expect(stampOf(file)).toMatchObject(owner);
  });

  test('finds no edit in other spacing or another order of keys', () => {
    expect(editsOf(file)).toEqual([]);
    expect(editsOf(JSON.stringify(JSON.parse(file), null, '\t'))).toEqual([]);
    const turned = Object.fromEntries(Object.entries(JSON.parse(file) as object).reverse());
    expect(editsOf(JSON.stringify(turned))).toEqual([]);
  });

  test.each<[string, (workflow: Loose) => void, string]>([
    [
      'a parameter',
      ({ nodes }) => {
        const key = nodes.find(({ name }) => name === 'Idempotency key');
        if (key) key.parameters['mode'] = 'raw';
      },
      'Idempotency key',
    ],
    ['a node more', ({ nodes }) => nodes.push({ name: 'Mine', parameters: {} }), 'Mine'],
    ['a second node of one name', ({ nodes }) => nodes.push({ name: 'Webhook', parameters: {} }), 'Webhook'],
    ['a node less', (workflow) => workflow.nodes.pop(), 'Mark failed'],
  ])('names what was changed: %s', (_name, change, name) => {
    const edits = editsOf(edited(change));
    expect(edits).toHaveLength(1);
    expect(edits?.[0]).toContain(name);
  });

  test.each<[string, (workflow: Loose) => void]>([
    ['a wire', ({ connections }) => delete connections['Replay']],
    [
      'a setting',
      ({ settings }) => {
        settings['executionTimeout'] = 1;
      },
    ],
    [
      'the name',
      (workflow) => {
        workflow.name = 'x';
      },
    ],
  ])('sees %s', (_name, change) => {
    expect(editsOf(edited(change))).toHaveLength(1);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no object', '[]'],
    ['null', 'null'],
    ['another workflow', edited((workflow) => delete workflow.meta)],
    ['a stamp with parts missing', '{"meta":{"oncehook":{"digest":"x"}}}'],
  ])('is not found in %s', (_name, text) => {
    expect(stampOf(text)).toBeUndefined();
    expect(editsOf(text)).toBeUndefined();
  });

  test('survives hostile names and shapes', () => {
    const text = edited((workflow) => {
      workflow.nodes.push(null as never, 7 as never, { name: '__proto__', parameters: {} });
    });
    expect(editsOf(text)?.length).toBeGreaterThan(0);
    expect(editsOf(edited((workflow) => Object.assign(workflow, { nodes: 'x' })))?.length).toBeGreaterThan(0);
  });
});
