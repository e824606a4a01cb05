import { describe, expect, test } from 'vitest';
import { Bug } from '../../../src/errors.ts';
import { WorkflowBuilder } from '../../../src/workflow/builder.ts';
import { idsFor } from '../../../src/workflow/ids.ts';
import { noOp } from '../../../src/workflow/nodes/no-op.ts';
import { postgres } from '../../../src/workflow/nodes/postgres.ts';
import { setText } from '../../../src/workflow/nodes/set.ts';
import type { NodeSpec } from '../../../src/workflow/types.ts';

function two(first: Partial<NodeSpec> = {}): WorkflowBuilder {
  const builder = new WorkflowBuilder(idsFor('p', 's'));
  builder.add('A', 'a', { ...noOp(), ...first });
  builder.add('B', 'b', noOp());
  return builder;
}

describe('the builder', () => {
  test('wires outputs, and the error output behind the last of them', () => {
    const builder = two({ outputs: 2, onError: 'continueErrorOutput' });
    builder.connect('A', 'B', 1);
    builder.connectError('A', 'B');
    const wire = { node: 'B', type: 'main', index: 0 };
    expect(builder.connections).toEqual({ A: { main: [[], [wire], [wire]] } });
  });

  test('gives nodes their place and keeps what n8n does not know out of them', () => {
    const nodes = two().nodes(
      new Map([
        ['A', [1, 2]],
        ['B', [3, 4]],
      ]),
    );
    expect(nodes[1]).toEqual({
      id: idsFor('p', 's').of('b'),
      name: 'B',
      position: [3, 4],
      type: 'n8n-nodes-base.noOp',
      typeVersion: 1,
      parameters: {},
    });
  });

  test.each<[string, (builder: WorkflowBuilder) => void]>([
    ['a name twice', (builder) => builder.add('A', 'c', noOp())],
    ['a role twice', (builder) => builder.add('C', 'a', noOp())],
    ['a wire from nowhere', (builder) => builder.connect('C', 'A')],
    ['a wire to nowhere', (builder) => builder.connect('A', 'C')],
    ['an output that is not there', (builder) => builder.connect('A', 'B', 1)],
    ['an error output that is not there', (builder) => builder.connectError('A', 'B')],
    ['a node without a place', (builder) => builder.nodes(new Map())],
  ])('refuses %s', (_name, act) => {
    expect(() => act(two())).toThrow(Bug);
  });
});

describe('texts that n8n would evaluate', () => {
  test.each(['=x', '={{ 1 }}'])('a Set field may not be %s', (value) => {
    expect(() => setText({ fields: [{ id: 'i', name: 'recipe', value }], keep: [] })).toThrow(Bug);
  });

  test.each(['=SELECT 1', 'SELECT {{ $json.id }}'])('SQL may not be %s', (query) => {
    expect(() => postgres({ query, parameters: [], credential: 'c' })).toThrow(Bug);
  });
});
