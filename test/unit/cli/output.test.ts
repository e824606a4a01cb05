import fc from 'fast-check';
import { expect, test } from 'vitest';
import { count, printable, table } from '../../../src/cli/output.ts';

test('printable lets no control or formatting character through, and keeps to its length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 50 }), (text, most) => {
      const safe = printable(text, most);
      expect(safe).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(Array.from(safe).length).toBeLessThanOrEqual(most);
    }),
  );
  expect(printable('a\u001b[31mb')).toBe('a\\u{1b}[31mb');
  expect(printable('Ünïcode, plain')).toBe('Ünïcode, plain');
});

test('table puts cells below each other whatever colours are added', () => {
  const rows = [
    ['a', 'bbb', 'c'],
    ['aaaa', 'b', 'c'],
  ];
  const plain = table(rows).split('\n');
  expect(plain.map((line) => line.indexOf('b'))).toEqual([6, 6]);
  expect(plain.map((line) => line.lastIndexOf('c'))).toEqual([11, 11]);
  const coloured = table(rows, (cell) => `<${cell}>`);
  expect(coloured.replace(/[<>]/g, '')).toBe(plain.join('\n'));
  expect(table([['x', '']])).toBe('x');
});

test('count', () => {
  expect([count(1, 'event'), count(2, 'event'), count(0, 'delivery', 'deliveries')]).toEqual([
    '1 event',
    '2 events',
    '0 deliveries',
  ]);
});
