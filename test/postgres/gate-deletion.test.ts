import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { type Crowd, expectOneLiveClaim, gather, meanwhile } from './harness/gate-crowd.ts';
import { type Answer, claimText, deliver, fail, finish, only } from './harness/gate-statements.ts';

let gate: Gate;
let crowd: Crowd;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('d', { signature: { scheme: 'none' } }, []);
  crowd = await gather(gate, 16);
});
afterAll(() => gate.database.drop());

const send = (client: pg.Client, id: string): Promise<Answer> =>
  deliver(client, { source: 'd', body: `{"id":"${id}"}` });
const purge = (client: pg.Client, id: string, also = '') =>
  client.query(`DELETE FROM oncehook.webhook_events WHERE idempotency_key = 'd:${id}' ${also}`);
const count = async (id: string) =>
  (await gate.owner.query("SELECT FROM oncehook.webhook_events WHERE idempotency_key = 'd:' || $1", [id]))
    .rowCount;

test('a delivery during the deletion of a final event is a duplicate, and new after it', async () => {
  await finish(gate.n8n, await send(gate.n8n, 'final'));
  const other = await gate.database.owner();
  await other.query('BEGIN');
  await purge(other, 'final');
  expect(await send(gate.n8n, 'final')).toMatchObject({ outcome: 'duplicate', status: 'success' });
  await other.query('COMMIT');
  expect(await send(gate.n8n, 'final')).toMatchObject({ outcome: 'new', attempts: 1 });
});

test('a delivery that waits for an event which is inserted, finished and deleted is new', async () => {
  const opener = await gate.database.owner();
  const [, late] = await meanwhile(
    gate,
    { opener, end: 'COMMIT' },
    async (client) => {
      await finish(client, await send(client, 'brief'));
      await purge(client, 'brief');
    },
    () => send(gate.n8n, 'brief'),
  );
  expect(late).toMatchObject({ outcome: 'new', attempts: 1 });
});

test.each([
  ['COMMIT', { outcome: 'new', attempts: 1 }],
  ['ROLLBACK', { outcome: 'reclaimed', attempts: 2 }],
] as const)('a delivery that waits for the deletion of a failed event: %s', async (end, expected) => {
  const id = `failed-${end}`;
  await send(gate.n8n, id);
  await fail(gate.n8n, 'd');
  const opener = await gate.database.owner();
  const [, late] = await meanwhile(
    gate,
    { opener, end },
    (client) => purge(client, id),
    () => send(gate.n8n, id),
  );
  expect(late).toMatchObject(expected);
  await expectOneLiveClaim(gate, `d:${id}`, [late]);
});

test('a deletion that waits for a takeover deletes nothing', async () => {
  await send(gate.n8n, 'taken');
  await fail(gate.n8n, 'd');
  const opener = crowd.clients[0] as pg.Client;
  const [taken, deleted] = await meanwhile(
    gate,
    { opener, end: 'COMMIT' },
    (client) => send(client, 'taken'),
    () => purge(gate.owner, 'taken', "AND status = 'failed'"),
  );
  expect(taken.outcome).toBe('reclaimed');
  expect(deleted.rowCount).toBe(0);
});

test('an event that vanished between the claim and its report is a duplicate, without an audit row', async () => {
  const row = await only(
    gate.n8n,
    // As if the INSERT had found it taken; the report finds nothing any more.
    claimText({ source: 'd', body: '{"id":"gone"}' }).replace('d.key IS NOT NULL', 'd.key IS NULL'),
  );
  expect(row).toMatchObject({ outcome: 'duplicate', code: 200, event_id: null, key: 'd:gone' });
  expect(
    (await gate.owner.query('SELECT FROM oncehook.webhook_duplicates WHERE event_id IS NULL')).rowCount,
  ).toBe(0);
});

test('without the statement that reads the delivery nothing is acknowledged', async () => {
  const [, second = ''] = claimText({ source: 'd', body: '{"id":"unread"}' }).split(';\n\n');
  expect(await only(gate.n8n, second)).toMatchObject({ outcome: 'unavailable', code: 503, key: null });
});

test('deliveries, completions and deletions all at once: one row each, one claim at a time', async () => {
  const owners = await Promise.all(Array.from({ length: 4 }, () => gate.database.owner()));
  const claims: Answer[] = [];
  const purges = owners.map(async (owner) => {
    for (let round = 0; round < 100; round++) await purge(owner, 'busy', "AND status = 'success'");
  });
  const sends = crowd.all(16, async (client) => {
    for (let round = 0; round < 30; round++) {
      const row = await send(client, 'busy');
      expect(['new', 'duplicate']).toContain(row.outcome);
      if (row.outcome !== 'new') continue;
      claims.push(row);
      expect(await finish(client, row)).toMatchObject({ status: 'success' });
    }
  });
  await Promise.all([sends, ...purges]);
  expect(claims.length).toBeGreaterThan(1);
  // Every claim was of a row of its own.
  expect(new Set(claims.map(({ event_id }) => event_id)).size).toBe(claims.length);
  expect(await count('busy')).toBeLessThan(2);
});
