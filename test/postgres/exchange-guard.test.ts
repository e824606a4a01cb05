import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeRow } from '../fixtures/exchange.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { type Crowd, gather, meanwhile, tally } from './harness/gate-crowd.ts';
import { type Answer, deliver, fail, finish } from './harness/gate-statements.ts';

const REASON = 'the same body came before, under another id';

let gate: Gate;
let crowd: Crowd;
let opener: pg.Client;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('g', { ...exchangeRow('guarded'), signature: { scheme: 'none' } }, []);
  crowd = await gather(gate, 64);
  opener = await gate.database.n8n();
});
afterAll(() => gate.database.drop());

const send = (id: string, body: string, more: object = {}, client = gate.n8n): Promise<Answer> =>
  deliver(client, { source: 'g', body: `"${body}"`, headers: { 'x-id': id }, ...more });
const guards = async (body: string) =>
  (
    await gate.owner.query(
      `SELECT g.idempotency_key AS key FROM oncehook.webhook_guards g WHERE body_sha256 = sha256(convert_to($1, 'UTF8')) ORDER BY 1`,
      [`"${body}"`],
    )
  ).rows.map(({ key }) => key);

test('a body under a second id is a duplicate of the first, and says so', async () => {
  expect(await send('1', 'a')).toMatchObject({ outcome: 'new', key: 'g:1', reason: null });
  expect(await send('1', 'a')).toMatchObject({ outcome: 'duplicate', key: 'g:1', reason: null });
  expect(await send('2', 'a')).toMatchObject({
    ...{ outcome: 'duplicate', key: 'g:1', reason: REASON, claim: null, status: 'processing' },
  });
  expect(await send('2', 'b')).toMatchObject({ outcome: 'new', key: 'g:2' });
  expect(
    await gate.row("SELECT deliveries::int FROM oncehook.webhook_ledger WHERE idempotency_key = 'g:1'"),
  ).toEqual({ deliveries: 3 });
});

test('the other body of a taken event stands in nobody’s way', async () => {
  expect(await send('m1', 'm-a')).toMatchObject({ outcome: 'new' });
  expect(await send('m1', 'm-b')).toMatchObject({ outcome: 'mismatch', reason: null });
  expect(await guards('m-b')).toEqual([]);
  expect(await send('m2', 'm-b')).toMatchObject({ outcome: 'new', key: 'g:m2' });
});

test('an event that failed is taken again under another id: it is that event', async () => {
  await send('f1', 'f', { execution: 'f' });
  await fail(gate.n8n, 'g', { execution: 'f' });
  const again = await send('f2', 'f');
  expect(again).toMatchObject({ outcome: 'reclaimed', key: 'g:f1', external_id: 'f1', attempts: 2 });
  expect(await finish(gate.n8n, again)).toMatchObject({ status: 'success' });
  expect(await send('f3', 'f')).toMatchObject({ outcome: 'duplicate', key: 'g:f1', status: 'success' });
});

test("n8n's test URL has guards of its own", async () => {
  expect(await send('t1', 't', { mode: 'test' })).toMatchObject({ outcome: 'new', key: 'test/g:t1' });
  expect(await send('t2', 't')).toMatchObject({ outcome: 'new', key: 'g:t2' });
  expect(await send('t3', 't', { mode: 'test' })).toMatchObject({ outcome: 'duplicate', key: 'test/g:t1' });
});

test('hashed keys are guarded as well', async () => {
  const row = { ...exchangeRow('guarded'), signature: { scheme: 'none' }, keyFormat: 'sha256' as const };
  await gate.addSource('h', row, []);
  const first = await send('1', 'h', { source: 'h' });
  expect(first).toMatchObject({ outcome: 'new', key: expect.stringMatching(/^h:sha256:/) });
  expect(await send('2', 'h', { source: 'h' })).toMatchObject({ outcome: 'duplicate', key: first.key });
});

test('a delivery without an id is unkeyed, whatever its body was before', async () => {
  await send('u1', 'u');
  expect(await deliver(gate.n8n, { source: 'g', body: '"u"' })).toMatchObject({ outcome: 'unkeyed' });
});

test('64 clients, 64 ids, one body, 10 times: one is new and all others are copies of it', async () => {
  for (let round = 0; round < 10; round++) {
    const rows = await crowd.all(64, (client, n) => send(`r${round}-${n}`, `race ${round}`, {}, client));
    expect(tally(rows)).toEqual({ new: 1, duplicate: 63 });
    expect(new Set(rows.map(({ key }) => key)).size).toBe(1);
    expect(await guards(`race ${round}`)).toHaveLength(1);
  }
});

test('64 clients, 8 ids, 8 bodies, crossed: nobody waits for each other, no body is new twice', async () => {
  for (let round = 0; round < 5; round++) {
    const rows = await crowd.all(64, (client, n) =>
      send(`x${round}-${n % 8}`, `cross ${round} ${(n * 5 + (n >> 3)) % 8}`, { execution: `${n}` }, client),
    );
    const fresh = rows.filter(({ outcome }) => outcome === 'new');
    expect(Object.keys(tally(rows)).filter((one) => !['new', 'duplicate', 'mismatch'].includes(one))).toEqual(
      [],
    );
    expect(new Set(fresh.map(({ body }) => JSON.stringify(body))).size).toBe(fresh.length);
    expect(new Set(fresh.map(({ key }) => key)).size).toBe(fresh.length);
  }
});

test('a claim that is rolled back leaves no guard, and who waited for it is new', async () => {
  const [first, late] = await meanwhile(
    gate,
    { opener, end: 'ROLLBACK' },
    (client) => send('w1', 'w', {}, client),
    () => send('w2', 'w', {}, crowd.clients[0]),
  );
  expect([first.outcome, late.outcome, late.key]).toEqual(['new', 'new', 'g:w2']);
  expect(await guards('w')).toEqual(['g:w2']);
});

test('who waited for a claim that stays is a copy', async () => {
  const [first, late] = await meanwhile(
    gate,
    { opener, end: 'COMMIT' },
    (client) => send('c1', 'c', {}, client),
    () => send('c2', 'c', {}, crowd.clients[0]),
  );
  expect([first.outcome, late.outcome, late.key]).toEqual(['new', 'duplicate', 'g:c1']);
});

test('a guard goes with its event', async () => {
  await finish(gate.n8n, await send('d1', 'd'));
  await gate.owner.query("DELETE FROM oncehook.webhook_events WHERE idempotency_key = 'g:d1'");
  expect(await guards('d')).toEqual([]);
  expect(await send('d2', 'd')).toMatchObject({ outcome: 'new', key: 'g:d2' });
});
