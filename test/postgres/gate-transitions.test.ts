import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate, type Row } from './harness/gate.ts';
import { type Answer, fail, finish, replay } from './harness/gate-statements.ts';

let gate: Gate;
let made = 0;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('a', { object: '{body.object}', leaseSeconds: 60, maxAttempts: 3 });
  await gate.addSource('b');
});
afterAll(() => gate.database.drop());

/** An event that was just claimed, by an execution of its own. */
async function claimed(source = 'a'): Promise<Answer & { run: { execution: string }; body: { id: string } }> {
  made += 1;
  const body = { id: `evt-${made}`, type: 't', object: 'o', n: [1.5, null, 'é'] };
  const run = { execution: `x${made}` };
  const row = await gate.send(source, body, { ...run, query: { q: '1' }, headers: { 'x-h': 'h' } });
  expect(row.outcome).toBe('new');
  return { ...row, run, body };
}
const again = (row: { body: object }, source = 'a', run = {}) => gate.send(source, row.body, run);
const event = (row: Answer): Promise<Row> => gate.event(row.key ?? '');
const lapse = (row: Answer) =>
  gate.owner.query(
    "UPDATE oncehook.webhook_events SET locked_until = now() - interval '1 ms' WHERE id = $1",
    [row.event_id],
  );
const letters = async (row: Answer): Promise<Row[]> =>
  (await gate.owner.query('SELECT * FROM oncehook.webhook_dead_letters WHERE event_id = $1', [row.event_id]))
    .rows;

describe('finish', () => {
  test('once, and again: the same', async () => {
    const row = await claimed();
    expect(await finish(gate.n8n, row)).toEqual({ status: 'success', explanation: null });
    const done = await event(row);
    expect(done).toMatchObject({
      status: 'success',
      locked_until: Infinity,
      next_attempt_at: null,
      error: null,
    });
    expect(done['processed_at']).toBeInstanceOf(Date);
    expect(await finish(gate.n8n, row)).toEqual({ status: 'success', explanation: null });
    expect(await event(row)).toEqual(done);
    expect((await again(row)).outcome).toBe('duplicate');
  });

  test('after its lease has lapsed, where nobody took over', async () => {
    const row = await claimed();
    await lapse(row);
    expect(await finish(gate.n8n, row)).toMatchObject({ status: 'success' });
  });

  test('after it was reported as failed, where nobody took over: the work is done', async () => {
    const row = await claimed();
    await fail(gate.n8n, 'a', row.run);
    expect(await finish(gate.n8n, row)).toMatchObject({ status: 'success' });
    expect(await event(row)).toMatchObject({ status: 'success', error: null, locked_until: Infinity });
  });

  test('of an overtaken run: refused, counted, explained', async () => {
    const row = await claimed();
    await lapse(row);
    const second = await again(row);
    for (const overruns of [1, 2]) {
      const told = await finish(gate.n8n, row);
      expect(told.status).toBe('overtaken');
      expect(told.explanation).toMatch(/lease/);
      expect(await event(row)).toMatchObject({ status: 'processing', overruns });
    }
    expect(await finish(gate.n8n, second)).toMatchObject({ status: 'success' });
    expect(await finish(gate.n8n, row)).toMatchObject({ status: 'overtaken' });
    expect(await event(row)).toMatchObject({ status: 'success', overruns: 3, attempts: 2 });
  });

  test('with no claim, a wrong one, and of no event', async () => {
    const row = await claimed();
    for (const claim of [null, '', 'x', row.claim?.toUpperCase() ?? '', `${row.claim} `])
      expect(await finish(gate.n8n, { ...row, claim })).toMatchObject({ status: 'overtaken' });
    for (const key of [null, '', 'a:nothing', `${row.key} `])
      expect(await finish(gate.n8n, { ...row, key })).toMatchObject({ status: 'unknown' });
    expect(await event(row)).toMatchObject({ status: 'processing' });
  });

  test('of a dead event is told that it came too late', async () => {
    const row = await claimed();
    await gate.owner.query('UPDATE oncehook.webhook_events SET attempts = 3 WHERE id = $1', [row.event_id]);
    await fail(gate.n8n, 'a', row.run);
    const told = await finish(gate.n8n, row);
    expect(told.status).toBe('dead');
    expect(told.explanation).not.toBeNull();
    expect(await event(row)).toMatchObject({ status: 'dead' });
  });
});

describe('fail', () => {
  test('by execution, instance and source: nobody else', async () => {
    const row = await claimed();
    for (const [source, other] of [
      ['b', row.run],
      ['a', { execution: 'another' }],
      ['a', { ...row.run, instance: 'http://another' }],
      ['nobody', row.run],
    ] as const)
      expect(await fail(gate.n8n, source, other)).toMatchObject({ status: 'unknown' });
    expect(await event(row)).toMatchObject({ status: 'processing' });
    expect(await fail(gate.n8n, 'a', { ...row.run, error: 'boom' })).toMatchObject({ status: 'failed' });
    expect(await event(row)).toMatchObject({ status: 'failed', error: 'boom', locked_until: -Infinity });
    expect(await fail(gate.n8n, 'a', row.run)).toMatchObject({ status: 'unknown' });
    expect(await again(row)).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
  });

  test('of an overtaken run leaves the one that took over alone', async () => {
    const row = await claimed();
    await lapse(row);
    await again(row, 'a', { execution: 'later' });
    expect(await fail(gate.n8n, 'a', row.run)).toMatchObject({ status: 'unknown' });
    expect(await event(row)).toMatchObject({ status: 'processing', execution_id: 'later' });
  });

  test('a crash is ignored: the lease decides', async () => {
    const row = await claimed();
    const told = await fail(gate.n8n, 'a', { ...row.run, errorName: 'WorkflowCrashedError' });
    expect(told.status).toBe('ignored');
    expect(await event(row)).toMatchObject({ status: 'processing', attempts: 1 });
  });

  test('in "Mark success": the work is done', async () => {
    const row = await claimed();
    expect(await fail(gate.n8n, 'a', { ...row.run, lastNode: 'Mark success' })).toMatchObject({
      status: 'success',
    });
    expect(await event(row)).toMatchObject({ status: 'success', error: null, locked_until: Infinity });
    expect((await again(row)).outcome).toBe('duplicate');
  });

  test('a finished event is failed by nothing', async () => {
    const row = await claimed();
    await finish(gate.n8n, row);
    expect(await fail(gate.n8n, 'a', row.run)).toMatchObject({ status: 'unknown' });
    expect(await event(row)).toMatchObject({ status: 'success' });
  });

  test('the last attempt makes it dead, with a letter that holds everything', async () => {
    const row = await claimed();
    const run = row.run;
    expect(await fail(gate.n8n, 'a', run)).toMatchObject({ status: 'failed' });
    await again(row, 'a', run);
    expect(await fail(gate.n8n, 'a', run)).toMatchObject({ status: 'failed' });
    expect(await again(row, 'a', run)).toMatchObject({ outcome: 'reclaimed', attempts: 3 });
    expect(await letters(row)).toEqual([]);
    expect(await fail(gate.n8n, 'a', { ...run, error: 'x'.repeat(5000) })).toMatchObject({ status: 'dead' });
    expect(await event(row)).toMatchObject({ status: 'dead', locked_until: Infinity, next_attempt_at: null });
    expect(await letters(row)).toMatchObject([
      {
        kind: 'processing',
        source: 'a',
        idempotency_key: row.key,
        reason: 'x'.repeat(2000),
        attempts: 3,
        body: Buffer.from(JSON.stringify(row.body)),
        query: {},
        resolved_at: null,
      },
    ]);
    expect(await again(row)).toMatchObject({ outcome: 'duplicate', status: 'dead' });
    expect(await replay(gate.n8n, 'a', row.event_id)).toMatchObject({ outcome: 'duplicate', status: 'dead' });
    expect(await fail(gate.n8n, 'a', run)).toMatchObject({ status: 'unknown' });
    expect(await letters(row)).toHaveLength(1);
  });

  test('with nothing said', async () => {
    const row = await claimed();
    const none = { error: null, lastNode: null, errorName: null };
    expect(await fail(gate.n8n, 'a', { ...row.run, ...none })).toMatchObject({ status: 'failed' });
    expect((await event(row))['error']).not.toBeNull();
  });

  test('is due again after 30 seconds doubled by each attempt, give or take half', async () => {
    const { rows } = await gate.owner.query(
      `SELECT attempts, min(extract(epoch FROM oncehook.backoff(attempts)))::float8 AS least,
         max(extract(epoch FROM oncehook.backoff(attempts)))::float8 AS most
       FROM generate_series(1, 40) AS attempts, generate_series(1, 200) GROUP BY attempts ORDER BY attempts`,
    );
    for (const { attempts, least, most } of rows) {
      const middle = 30 * 2 ** Math.min(attempts, 10);
      expect(least).toBeGreaterThanOrEqual(middle * 0.5);
      expect(least).toBeLessThan(middle * 0.8);
      expect(most).toBeLessThanOrEqual(middle * 1.5);
      expect(most).toBeGreaterThan(middle * 1.2);
    }
    const row = await claimed();
    await fail(gate.n8n, 'a', row.run);
    const due = Number((await event(row))['next_attempt_at']) - Date.now();
    expect(due).toBeGreaterThan(25_000);
    expect(due).toBeLessThan(95_000);
  });
});

describe('replay', () => {
  test('of a failed event: the row that the webhook gives, and the same claim', async () => {
    const row = await claimed();
    await fail(gate.n8n, 'a', row.run);
    const replayed = await replay(gate.n8n, 'a', row.event_id, {
      workflow: 'w2',
      execution: 'r1',
      instance: 'i2',
    });
    const { run: _run, ...webhook } = row;
    expect(replayed).toEqual({
      ...webhook,
      outcome: 'reclaimed',
      attempts: 2,
      claim: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(Object.keys(replayed)).toEqual(Object.keys(webhook));
    expect(replayed.claim).not.toBe(row.claim);
    expect(await event(row)).toMatchObject({
      status: 'processing',
      attempts: 2,
      replays: 1,
      workflow: 'w2',
      execution_id: 'r1',
      instance: 'i2',
      body: Buffer.from(JSON.stringify(row.body)),
    });
    const ledger = await gate.row('SELECT deliveries::int FROM oncehook.webhook_ledger WHERE id = $1', [
      row.event_id,
    ]);
    expect(ledger).toEqual({ deliveries: 1 });
    expect(await finish(gate.n8n, row)).toMatchObject({ status: 'overtaken' });
    expect(await finish(gate.n8n, replayed)).toMatchObject({ status: 'success' });
  });

  test('of a lapsed lease, under a lease of its own', async () => {
    const row = await claimed();
    await lapse(row);
    expect(await replay(gate.n8n, 'a', row.event_id)).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
    const { locked_until, claimed_at, next_attempt_at } = await event(row);
    expect(Number(locked_until) - Number(claimed_at)).toBe(60_000);
    expect(next_attempt_at).toEqual(locked_until);
    expect(await replay(gate.n8n, 'a', row.event_id)).toMatchObject({ outcome: 'duplicate' });
  });

  test('takes nothing that is held or final', async () => {
    const row = await claimed();
    const before = await event(row);
    const held = await replay(gate.n8n, 'a', row.event_id);
    expect(held).toMatchObject({
      outcome: 'duplicate',
      claim: null,
      body: null,
      status: 'processing',
      key: row.key,
    });
    expect(await event(row)).toEqual(before);
    await finish(gate.n8n, row);
    expect(await replay(gate.n8n, 'a', row.event_id)).toMatchObject({
      outcome: 'duplicate',
      status: 'success',
    });
  });

  test("of no event, of another source's, and of what is no id", async () => {
    const row = await claimed();
    await fail(gate.n8n, 'a', row.run);
    expect(await replay(gate.n8n, 'b', row.event_id)).toMatchObject({ outcome: 'unavailable', key: null });
    for (const id of [null, '', '0', '-1', '1e3', ' 1', '1;', '9'.repeat(18), '9'.repeat(400), "' OR 1=1"])
      expect(await replay(gate.n8n, 'a', id)).toMatchObject({ outcome: 'unavailable', claim: null });
    expect(await replay(gate.n8n, null, row.event_id)).toMatchObject({ outcome: 'unavailable' });
    expect(await event(row)).toMatchObject({ status: 'failed', attempts: 1 });
  });
});
