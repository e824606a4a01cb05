import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical, serialise } from '../../../src/workflow/serialise.ts';
import type { Json, Workflow } from '../../../src/workflow/types.ts';

const workflow: Workflow = {
  id: 'w',
  name: 'n',
  active: false,
  nodes: [
    {
      id: 'a',
      name: 'A',
      type: 't',
      typeVersion: 1,
      parameters: { b: 1, a: 2 },
      position: [0, 0],
      notes: 'x',
    },
  ],
  connections: {},
  settings: { executionOrder: 'v1' },
  meta: {},
};

function reversed<T>(value: T): T {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (Object.fromEntries(Object.entries(value).reverse()) as T)
    : value;
}

describe('serialise', () => {
  test('loses nothing and ends with one line break', () => {
    const text = serialise(workflow);
    expect(JSON.parse(text)).toEqual(workflow);
    expect(text).toMatch(/[^\n]\n$/);
  });

  test('gives the same bytes in whatever order the keys of workflow and nodes were set', () => {
    expect(serialise(reversed({ ...workflow, nodes: workflow.nodes.map(reversed) }))).toBe(
      serialise(workflow),
    );
  });
});

describe('canonical', () => {
  test('is equal for equal values only', () => {
    const json = fc.jsonValue() as fc.Arbitrary<Json>;
    const deepReversed = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(deepReversed)
        : value !== null && typeof value === 'object'
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, inner]) => [key, deepReversed(inner)]),
            )
          : value;
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(canonical(deepReversed(a))).toBe(canonical(a));
        expect(JSON.parse(canonical(a))).toEqual(JSON.parse(JSON.stringify(a)));
        if (canonical(a) === canonical(b)) {
          expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)));
        }
      }),
    );
  });
});
