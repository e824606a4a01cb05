import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serialise } from '../../../../src/workflow/serialise.ts';
import {
  add,
  behind,
  type Canvas,
  canvas,
  connect,
  generated,
  merged,
  node,
  pasted,
  remove,
  rename,
  splice,
} from './canvas.ts';

const known = new Map<string, ReturnType<typeof generated>>();

/** Resolving a configuration is most of the time of a run. */
function once(key: string, make: () => ReturnType<typeof generated>): ReturnType<typeof generated> {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}

/** Configurations and versions of the generator, as they may follow one another. */
const GENERATIONS = fc
  .record({
    name: fc.constantFrom('stripe', 'stripe-eu'),
    ack: fc.constantFrom('after-claim', 'after-success'),
    lease: fc.constantFrom('15m', '1h'),
    key: fc.constantFrom('{body.id}', '{body.data.object.id}'),
    claim: fc.constantFrom(
      'SELECT a($1, $2, $3, $4, $5, $6, $7, $8, $9)',
      'SELECT b($1, $2, $3, $4, $5, $6, $7, $8, $9)',
    ),
    note: fc.boolean(),
  })
  .map(({ claim, note, ...raw }) => ({
    made: once(JSON.stringify({ claim, note, ...raw }), () =>
      generated(raw, { claim }, (workflow) => (note ? withCheck(workflow) : workflow)),
    ),
    // What a counterexample shows.
    [fc.toStringMethod]: () => JSON.stringify({ claim, note, ...raw }),
  }));

/** A version whose generator puts one more node behind the failure mark. */
function withCheck(workflow: ReturnType<typeof generated>): ReturnType<typeof generated> {
  return {
    ...workflow,
    nodes: [
      ...workflow.nodes,
      {
        id: 'alarm',
        name: 'Alarm',
        type: 'alarm',
        typeVersion: 1,
        position: [0, 2000],
        parameters: {},
        notes: 'oncehook: alarm',
      },
    ],
    connections: {
      ...workflow.connections,
      'Mark failed': { main: [[{ node: 'Alarm', type: 'main', index: 0 }]] },
    },
  };
}

const MADE = generated();
const OURS = MADE.nodes
  .filter(({ type }) => !type.endsWith('stickyNote') && !type.endsWith('noOp'))
  .map(({ id }) => id);
const byId = (of: Canvas, id: string) => of.nodes.find((one) => one.id === id)?.name;

/** What a user does that is never a conflict; each leaves alone what it does not find. */
type Edit = (mine: Canvas, name: string) => void;
const business = (mine: Canvas) => [
  'Your business logic',
  ...mine.nodes.map(({ name }) => name).filter((name) => name.startsWith('mine')),
];
const EDITS: fc.Arbitrary<Edit> = fc.oneof(
  fc.nat(20).map(
    (at): Edit =>
      (mine, name) => {
        const from = business(mine).filter((one) => mine.nodes.some((other) => other.name === one));
        const start = from[at % Math.max(1, from.length)];
        const to = start === undefined ? undefined : behind(mine, start)[0];
        if (start !== undefined && to !== undefined) splice(mine, start, to, name);
      },
  ),
  fc.constant<Edit>((mine, name) => {
    const place = mine.nodes.find((one) => one.name === 'Your business logic');
    if (!place) return;
    rename(mine, place.name, name);
    Object.assign(node(mine, name), { id: name, type: 'n8n-nodes-base.set', parameters: { value: name } });
    delete node(mine, name).notes;
  }),
  fc.constant<Edit>((mine, name) => {
    add(mine, name);
    const answer = byId(mine, OURS.at(6) ?? '');
    if (answer) connect(mine, answer, name);
  }),
  fc.nat(OURS.length - 1).map(
    (at): Edit =>
      (mine, name) => {
        const ours = byId(mine, OURS[at] ?? '');
        if (ours) rename(mine, ours, `our ${name}`);
      },
  ),
  fc.nat(OURS.length - 1).map(
    (at): Edit =>
      (mine) => {
        const ours = byId(mine, OURS[at] ?? '');
        if (ours) Object.assign(node(mine, ours), { position: [at, at], disabled: true });
      },
  ),
);

/** The user's nodes and the wires between two of them, and whether ours lead to them and they to ours. */
function theirs(of: Canvas) {
  const names = of.nodes.map(({ name }) => name).filter((name) => name.startsWith('mine'));
  const reached = (name: string) =>
    Object.keys(of.connections).some((from) =>
      [0, 1].some((output) => behind(of, from, output).includes(name)),
    );
  return names.sort().map((name) => ({
    parameters: node(of, name).parameters,
    position: node(of, name).position,
    next: behind(of, name).filter((to) => to.startsWith('mine')),
    leadsOn: behind(of, name).length > 0,
    reached: reached(name),
  }));
}

describe('any workflow', { timeout: 120_000 }, () => {
  test('that was generated is merged into what is generated now', () => {
    fc.assert(
      fc.property(GENERATIONS, GENERATIONS, ({ made: then }, { made: now }) => {
        expect(merged(now, { exported: canvas(then) }).content).toBe(serialise(now));
        const { conflicts, canvas: result } = merged(then, { exported: pasted(canvas(then)) });
        expect(conflicts).toEqual([]);
        expect(result.connections).toEqual(canvas(then).connections);
      }),
      { numRuns: 30 },
    );
  });

  test('keeps the user’s nodes and their wires over all generations, and merging twice is merging once', () => {
    fc.assert(
      fc.property(
        GENERATIONS,
        fc.array(fc.tuple(GENERATIONS, fc.array(EDITS, { maxLength: 4 })), { minLength: 1, maxLength: 4 }),
        ({ made: first }, steps) => {
          let mine = canvas(first);
          for (const [index, [{ made: now }, edits]] of steps.entries()) {
            for (const [at, edit] of edits.entries()) edit(mine, `mine ${index}.${at}`);
            const kept = theirs(mine);
            const { content, conflicts, canvas: result } = merged(now, { before: mine });
            expect(conflicts).toEqual([]);
            expect(theirs(result)).toEqual(kept);
            expect(merged(now, { before: content }).content).toBe(content);
            expect(merged(now, { exported: result }).content).toBe(content);
            mine = result;
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('has every node of ours back that was removed', () => {
    fc.assert(
      fc.property(
        GENERATIONS,
        fc.array(EDITS, { maxLength: 3 }),
        fc.uniqueArray(fc.nat(OURS.length - 1), { minLength: 1, maxLength: 3 }),
        ({ made: now }, edits, gone) => {
          const mine = canvas(now);
          for (const [at, edit] of edits.entries()) edit(mine, `mine ${at}`);
          const before = structuredClone(mine);
          for (const at of gone) remove(mine, byId(mine, OURS[at] ?? '') ?? '');
          const { content, conflicts, canvas: result } = merged(now, { before: mine });
          expect(conflicts).toEqual([]);
          const ids = result.nodes.map(({ id }) => id);
          expect(ids).toEqual(expect.arrayContaining(OURS));
          // A node of ours with several outputs takes the wires behind it along: that the user did.
          const cutOff = theirs(mine).map(({ reached }) => !reached);
          const wanted = theirs(before).map((one, at) =>
            cutOff[at] ? { ...one, reached: expect.anything() } : one,
          );
          expect(theirs(result)).toEqual(wanted);
          expect(merged(now, { before: content }).content).toBe(content);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('never makes the merge throw, nor takes anything that is not a workflow', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('nodes', 'connections', 'settings', 'meta', 'pinData'),
        (value, key) => {
          const mine = { ...canvas(MADE), [key]: value };
          const { content } = merged(MADE, { before: JSON.stringify(mine) });
          expect(content).toContain('"oncehook"');
        },
      ),
    );
  });
});
