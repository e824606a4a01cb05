import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerOf, claim, markSuccess } from '../../src/ledger/deliver.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { eventsOf, FETCH, ITEMS } from './harness/gate-batches.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('one', { signature: { scheme: 'none' } }, []);
  await gate.addSource('items', ITEMS, []);
  await gate.addSource('pay', FETCH, []);
});
afterAll(() => gate.database.drop());

const run = { workflow: 'w', execution: 'e', instance: 'i' };
const request = (sourceId: string, shape: 'event' | 'items' | 'fetch', body: string) => ({
  ...{ sourceId, shape, headers: {}, query: {}, mode: 'production' as const },
  body: Buffer.from(body),
});

test('a request of one event gives one row', async () => {
  const rows = await claim(gate.n8n, request('one', 'event', '{"id":"a"}'), run);
  expect(rows).toMatchObject([{ outcome: 'new', key: 'one:a' }]);
  expect(answerOf(rows)).toMatchObject({ outcome: 'new', code: 200 });
});

test('a request of several gives a row each, and one answer', async () => {
  await claim(gate.n8n, request('items', 'items', eventsOf('a')), run);
  const rows = await claim(gate.n8n, request('items', 'items', eventsOf('a', 'b')), run);
  expect(rows.map(({ outcome }) => outcome)).toEqual(['duplicate', 'new']);
  expect(answerOf(rows)).toMatchObject({ outcome: 'new', code: 200, reason: null });
  const [, { key, claim: token } = { key: null, claim: null }] = rows;
  expect(await markSuccess(gate.n8n, key ?? '', token ?? '')).toMatchObject({ status: 'success' });
  expect(answerOf(await claim(gate.n8n, request('items', 'items', '{}'), run))).toMatchObject({
    outcome: 'unkeyed',
  });
});

test('a delivery that tells of an object gives the row of the object, or its own while nothing was fetched', async () => {
  const delivery = request('pay', 'fetch', '{"id":"tr_1"}');
  const fetched = Buffer.from('{"id":"tr_1","status":"paid"}');
  expect(await claim(gate.n8n, delivery, run)).toMatchObject([
    { outcome: 'new', key: expect.stringMatching(/^delivery/) },
  ]);
  expect(await claim(gate.n8n, { ...delivery, fetched }, run)).toMatchObject([
    { outcome: 'new', key: 'pay:tr_1:paid' },
  ]);
  expect(await claim(gate.n8n, { ...delivery, fetched }, run)).toMatchObject([{ outcome: 'duplicate' }]);
  expect(await claim(gate.n8n, { ...delivery, body: Buffer.from('{}'), fetched }, run)).toMatchObject([
    { outcome: 'unkeyed' },
  ]);
});
