import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { layout, NODE_SIZE, type Row, textHeight } from '../../../src/workflow/layout.ts';
import { overlaps } from './geometry.ts';

const cell = fc.record({ column: fc.integer({ min: 0, max: 5 }), row: fc.integer({ min: 0, max: 3 }) });

/** A group of up to six nodes on a grid of its own; names come later. */
const group = fc.record({
  text: fc.string({ unit: fc.constantFrom('a', ' ', '\n', '#', 'é'), maxLength: 600 }),
  columns: fc.integer({ min: 1, max: 6 }),
  cells: fc.uniqueArray(cell, { maxLength: 6, selector: ({ column, row }) => `${column}/${row}` }),
});

const upTo = <T>(maxLength: number, inner: fc.Arbitrary<T>) => fc.array(inner, { minLength: 1, maxLength });

const stacks = upTo(4, upTo(3, upTo(3, group))).map((all): Row[][] => {
  let count = 0;
  return all.map((stack) =>
    stack.map((row) =>
      row.map(({ text, columns, cells }) => ({
        note: `note ${count++}`,
        text,
        columns: Math.max(columns, ...cells.map(({ column }) => column + 1)),
        cells: cells.map((one) => ({ ...one, name: `node ${count++}` })),
      })),
    ),
  );
});

describe('the layout', () => {
  test('overlaps nothing, and keeps every node on its note, below the text', () => {
    fc.assert(
      fc.property(stacks, (all) => {
        const { positions, notes } = layout(all);
        const groups = all.flat(2);
        expect(notes.size).toBe(groups.length);
        expect(overlaps([...notes.values()])).toEqual([]);
        const nodes = groups.flatMap(({ cells }) => cells.map(({ name }) => boxOf(positions.get(name))));
        expect(overlaps(nodes)).toEqual([]);
        for (const one of groups) {
          const note = notes.get(one.note) ?? { x: 0, y: 0, width: 0, height: 0 };
          for (const { name } of one.cells) {
            const node = boxOf(positions.get(name));
            expect(node.y).toBeGreaterThanOrEqual(note.y + textHeight(one));
            expect(node.x).toBeGreaterThan(note.x);
            expect(node.x + node.width).toBeLessThan(note.x + note.width);
            expect(node.y + node.height).toBeLessThan(note.y + note.height);
          }
        }
      }),
    );
  });

  test('puts the first nodes of each stack on one line, and later stacks to the right', () => {
    const one = (name: string, text: string) => ({
      note: `${name} note`,
      text,
      columns: 1,
      cells: [{ name, column: 0, row: 0 }],
    });
    const { positions } = layout([[[one('a', 'short')]], [[one('b', 'long\n'.repeat(30)), one('c', '')]]]);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => boxOf(positions.get(name)));
    expect(b?.y).toBe(a?.y);
    expect(c?.y).toBe(a?.y);
    expect(b?.x).toBeGreaterThan((a?.x ?? 0) + NODE_SIZE);
    expect(c?.x).toBeGreaterThan((b?.x ?? 0) + NODE_SIZE);
  });

  test('gives longer text a higher note', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 5 }), (text, columns) => {
        const longer = `${text}\n${'word '.repeat(200)}`;
        expect(textHeight({ text: longer, columns })).toBeGreaterThan(textHeight({ text, columns }));
      }),
    );
  });
});

function boxOf([x, y]: [number, number] = [Number.NaN, Number.NaN]) {
  return { x, y, width: NODE_SIZE, height: NODE_SIZE };
}
