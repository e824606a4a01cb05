import type pg from 'pg';
import { expect, test } from 'vitest';
import { changeLine, feedWidths } from '../../../src/cli/dev/watch.ts';
import { DeliveryWatch, type LedgerChange } from '../../../src/ledger/watch-deliveries.ts';
import type { Provider } from '../../../src/providers/schema.ts';

interface Row {
  id: string;
  status: string;
  attempts?: number;
  replays?: number;
  overruns?: number;
  lapsed?: boolean;
  error?: string;
}

const event = (row: Row) => ({
  ...{
    source: 'shop',
    type: 't',
    key: `shop:${row.id}`,
    attempts: 1,
    replays: 0,
    overruns: 0,
    error: null,
    lapsed: false,
  },
  ...row,
});

const none = { source: 0, type: 0, key: 0 };

const nothing = { events: [], duplicates: [], rejections: [], dead_letters: [] };

/** A watch whose looks see what the test says, one after the other. */
function watching(...looks: Partial<Record<keyof typeof nothing, unknown[]>>[]) {
  const asked: unknown[][] = [];
  const client = {
    query: async (_: string, values: unknown[]) => {
      asked.push(values);
      return { rows: [{ ...nothing, ...looks.shift() }] };
    },
  } as unknown as pg.ClientBase;
  return { watch: new DeliveryWatch(client), asked };
}

async function kinds(watch: DeliveryWatch): Promise<string[]> {
  return (await watch.look()).map(({ kind, key, count }) =>
    `${kind} ${key ?? ''}${count > 1 ? `×${count}` : ''}`.trim(),
  );
}

test('the first look only remembers', async () => {
  const { watch, asked } = watching(
    {
      events: [event({ id: '7', status: 'processing' })],
      rejections: [{ source: 'shop', reason: 'r', count: 5 }],
    },
    {},
  );
  expect(await kinds(watch)).toEqual([]);
  expect(await kinds(watch)).toEqual([]);
  expect(asked[1]).toEqual([7n, ['7'], 0n, 0n]);
});

test('an event on its way: new, failed, reclaimed, lapsed, overtaken, done', async () => {
  const { watch } = watching(
    {},
    { events: [event({ id: '1', status: 'processing' })] },
    { events: [event({ id: '1', status: 'processing' })] },
    { events: [event({ id: '1', status: 'failed', error: 'no' })] },
    { events: [event({ id: '1', status: 'processing', attempts: 2, replays: 1 })] },
    { events: [event({ id: '1', status: 'processing', attempts: 2, replays: 1, lapsed: true })] },
    { events: [event({ id: '1', status: 'success', attempts: 3, replays: 1, overruns: 1 })] },
  );
  const seen: string[][] = [];
  for (let look = 0; look < 7; look += 1) seen.push((await watch.look()).map(({ kind }) => kind));
  expect(seen).toEqual([
    [],
    ['new'],
    [],
    ['failed'],
    ['reclaimed'],
    ['lapsed'],
    ['reclaimed', 'overtaken', 'success'],
  ]);
});

test('what happened between two looks is told as well', async () => {
  const { watch } = watching({}, { events: [event({ id: '1', status: 'dead', attempts: 2, error: 'no' })] });
  await watch.look();
  expect(await kinds(watch)).toEqual(['new shop:1', 'reclaimed shop:1', 'dead shop:1']);
});

test('an event with a lower id that commits late is new, an old one that is tried again is not', async () => {
  const { watch } = watching(
    { events: [event({ id: '500', status: 'success' })] },
    { events: [event({ id: '500', status: 'success' }), event({ id: '499', status: 'processing' })] },
    { events: [event({ id: '3', status: 'processing', attempts: 4 })] },
  );
  await watch.look();
  expect(await kinds(watch)).toEqual(['new shop:499']);
  expect(await kinds(watch)).toEqual(['reclaimed shop:3']);
});

test('duplicates once each, rejections and dead letters by how often', async () => {
  const duplicate = (id: string) => ({ id, source: 'shop', outcome: 'duplicate', type: null, key: `d${id}` });
  const letter = (id: string, deliveries: number) => ({
    id,
    source: 'shop',
    kind: 'reception',
    reason: 'r',
    key: null,
    deliveries,
  });
  const rejection = (count: number) => ({ source: 'shop', reason: 'r', count });
  const { watch } = watching(
    { duplicates: [duplicate('9')], rejections: [rejection(5)], dead_letters: [letter('400', 1)] },
    {
      duplicates: [duplicate('9'), duplicate('8')],
      rejections: [rejection(8)],
      dead_letters: [letter('400', 3), letter('2', 50)],
    },
    {
      duplicates: [duplicate('9'), duplicate('8')],
      rejections: [rejection(2)],
      dead_letters: [letter('400', 3), { ...letter('401', 1), kind: 'processing' }],
    },
  );
  await watch.look();
  expect(await kinds(watch)).toEqual(['duplicate d8', 'rejected ×3', 'unkeyed ×2', 'unkeyed']);
  expect(await kinds(watch)).toEqual([]);
});

test('a line holds time, source, outcome, type and key, and nothing that steers the terminal', () => {
  const change: LedgerChange = {
    source: 'shop',
    kind: 'failed',
    count: 1,
    type: 'a\u001bb',
    key: 'k\u0007',
    detail: 'x\ny',
    attempts: 1,
  };
  const line = changeLine(new Date(2026, 0, 2, 3, 4, 5), change, { paint: (_, text) => text }, none);
  expect(line.split('  ').slice(0, 2)).toEqual(['03:04:05', 'shop']);
  expect(line).toMatch(/failed/);
  expect(line).not.toMatch(/\p{Cc}/u);
});

test('the columns of a run stand below each other, whatever a line lacks', () => {
  const provider = { samples: { 'payment.succeeded': {}, paid: {} } } as unknown as Provider;
  const widths = feedWidths([
    { id: 'a', key: '{body.id}', providerFile: provider },
    { id: 'yookassa', key: '{body.event}:{body.object.id}', providerFile: provider },
  ]);
  const change: LedgerChange = {
    ...{ source: 'a', kind: 'new', count: 1, type: 'paid', key: 'a:1', detail: null, attempts: 1 },
  };
  const lines = [
    change,
    {
      ...change,
      source: 'yookassa',
      type: 'payment.succeeded',
      key: `yookassa:payment.succeeded:${'e'.repeat(36)}`,
    },
    { ...change, type: null, key: null },
  ].map((one) => changeLine(new Date(), one, { paint: (_, text) => text }, widths));
  expect(new Set(lines.map((line) => line.indexOf('first delivery'))).size).toBe(1);
  expect(new Set(lines.map((line) => line.indexOf('new'))).size).toBe(1);
});
