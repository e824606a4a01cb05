import { describe, expect, test } from 'vitest';
import { serialise } from '../../../../src/workflow/serialise.ts';
import { RAW } from '../sources.ts';
import {
  add,
  behind,
  type Canvas,
  canvas,
  connect,
  cut,
  generated,
  merged,
  pasted,
  remove,
  splice,
} from './canvas.ts';

const PLACE = 'Your business logic';
const CASES = Object.keys(RAW).flatMap((base) =>
  ['after-claim', 'after-success'].map((ack) => ({ base, ack, made: generated({ base, ack }) })),
);

/** The wires into a node, as `[from, output]`. */
function into(of: Canvas, name: string): [string, number][] {
  return Object.keys(of.connections).flatMap((from) =>
    (of.connections[from]?.['main'] ?? []).flatMap((_, output) =>
      behind(of, from, output).includes(name) ? [[from, output] as [string, number]] : [],
    ),
  );
}

/** The user's nodes in the place of the generated one. */
function replaced(mine: Canvas): Canvas {
  const before = into(mine, PLACE);
  const after = behind(mine, PLACE);
  mine.nodes = mine.nodes.filter(({ name }) => name !== PLACE);
  delete mine.connections[PLACE];
  for (const name of ['One', 'Two']) add(mine, name);
  for (const [from, output] of before) {
    cut(mine, from, PLACE, output);
    connect(mine, from, 'One', output);
  }
  connect(mine, 'One', 'Two');
  for (const to of after) connect(mine, 'Two', to);
  return mine;
}

describe.each(CASES)('$base, $ack', ({ base, ack, made }) => {
  test('is found again after a paste', () => {
    const { conflicts, canvas: result } = merged(made, { exported: pasted(canvas(made)) });
    expect(conflicts).toEqual([]);
    expect(result.connections).toEqual(canvas(made).connections);
  });

  test('has each node back that was removed', () => {
    for (const { name } of made.nodes.filter(({ type }) => !type.endsWith('noOp'))) {
      const mine = canvas(made);
      remove(mine, name);
      const { conflicts, canvas: result } = merged(made, { before: mine });
      expect([name, conflicts]).toEqual([name, []]);
      expect([name, result.connections]).toEqual([name, canvas(made).connections]);
    }
  });

  test('has the user’s nodes in their place through another acknowledgement and back', () => {
    const other = generated({ base, ack: ack === 'after-claim' ? 'after-success' : 'after-claim' });
    const mine = replaced(canvas(made));
    const there = merged(other, { before: mine });
    expect(there.conflicts).toEqual([]);
    expect(there.canvas.connections).toEqual(replaced(canvas(other)).connections);
    expect(merged(made, { before: there.canvas }).canvas.connections).toEqual(mine.connections);
    expect(merged(other, { before: there.content }).content).toBe(there.content);
  });

  test('has nodes on the wires around that place stay there', () => {
    const mine = canvas(made);
    for (const [from, output] of into(mine, PLACE)) splice(mine, from, PLACE, `Before ${output}`, output);
    for (const to of behind(mine, PLACE)) splice(mine, PLACE, to, 'After');
    const { conflicts, canvas: result } = merged(made, { before: mine });
    expect([conflicts, result.connections]).toEqual([[], mine.connections]);
  });

  test('is as generated where nothing is the user’s', () => {
    expect(merged(made, { exported: canvas(generated({ base, ack, lease: '1h' })) }).content).toBe(
      serialise(made),
    );
  });

  test('lets nothing between the request and its answer', () => {
    const mine = canvas(made);
    splice(mine, 'Webhook', 'Raw body', 'Mine');
    expect(merged(made, { before: mine }).conflicts).toHaveLength(1);
  });
});
