import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { deliver, fail, finish } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const json = 'application/json; charset=utf-8';
const count = async (table: string, source: string): Promise<number> =>
  Number(
    (await gate.row(`SELECT count(*) AS n FROM oncehook.webhook_${table} WHERE source = $1`, [source]))['n'],
  );

describe('the outcomes', () => {
  test('new: everything that the business part needs, and the row in the ledger', async () => {
    await gate.addSource('new', { object: '{body.data.object}', leaseSeconds: 60 });
    const sent = { id: 'evt_1', type: 'paid', data: { object: 'pi_1' }, n: [1, null] };
    const headers = { 'content-type': 'application/json', 'x-event': 'e' };
    const row = await gate.send('new', sent, {
      headers,
      query: { a: 'b' },
      workflow: 'w',
      execution: '42',
      instance: 'https://n8n',
    });
    expect(row).toMatchObject({
      outcome: 'new',
      code: 200,
      content_type: json,
      retry_after: null,
      key: 'new:evt_1',
      attempts: 1,
      status: 'processing',
      reason: null,
      source: 'new',
      type: 'paid',
      external_id: 'evt_1',
      object_id: 'pi_1',
      body: sent,
      headers,
      query: { a: 'b' },
    });
    expect(JSON.parse(row.answer)).toEqual({ ok: true, duplicate: false, key: 'new:evt_1' });
    const event = await gate.event('new:evt_1');
    expect(event).toMatchObject({
      id: row.event_id,
      source: 'new',
      event_type: 'paid',
      external_id: 'evt_1',
      object_id: 'pi_1',
      status: 'processing',
      attempts: 1,
      workflow: 'w',
      execution_id: '42',
      instance: 'https://n8n',
      body: Buffer.from(JSON.stringify(sent)),
      payload: sent,
      content_type: 'application/json',
      query: { a: 'b' },
      first_seen_at: row.first_seen_at,
      next_attempt_at: event['locked_until'],
    });
    const lease = Number(event['locked_until']) - Number(event['claimed_at']);
    expect(lease).toBe(60_000);
    expect(row.claim).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(event)).not.toContain(row.claim);
  });

  test('duplicate while it runs, and after; each is in the audit', async () => {
    await gate.addSource('dup');
    const first = await gate.send('dup', { id: 1 });
    const headers = { 'x-forwarded-for': '10.0.0.1, 203.0.113.9' };
    const second = await gate.send('dup', { id: 1 }, { headers });
    await finish(gate.n8n, first);
    const third = await gate.send('dup', { id: 1 });
    for (const [row, status] of [[second, 'processing'] as const, [third, 'success'] as const]) {
      expect(row).toMatchObject({ outcome: 'duplicate', code: 200, claim: null, body: null, status });
      expect(row).toMatchObject({
        key: first.key,
        event_id: first.event_id,
        content_type: json,
        retry_after: null,
      });
      expect(JSON.parse(row.answer)).toEqual({
        ok: true,
        duplicate: true,
        message: 'event already accepted',
        key: 'dup:1',
        status,
      });
    }
    const audit = await gate.owner.query(
      "SELECT event_id, source_ip, outcome, body FROM oncehook.webhook_duplicates WHERE source = 'dup' ORDER BY id",
    );
    expect(audit.rows).toEqual([
      { event_id: first.event_id, source_ip: '203.0.113.9', outcome: 'duplicate', body: null },
      { event_id: first.event_id, source_ip: null, outcome: 'duplicate', body: null },
    ]);
  });

  test('mismatch: another body under a taken key is kept; the ledger keeps the first', async () => {
    await gate.addSource('mis');
    const first = await gate.send('mis', { id: 1, amount: 1 });
    const second = await gate.send('mis', { id: 1, amount: 2 });
    expect(second).toMatchObject({ outcome: 'mismatch', code: 200, key: first.key, claim: null });
    expect(JSON.parse(second.answer)).toMatchObject({ ok: true, duplicate: true, mismatch: true });
    expect((await gate.event('mis:1'))['payload']).toEqual({ id: 1, amount: 1 });
    const { body } = await gate.row("SELECT body FROM oncehook.webhook_duplicates WHERE source = 'mis'");
    expect(String(body)).toBe('{"id":1,"amount":2}');
  });

  test('volatile fields, and the same JSON written otherwise, are no mismatch', async () => {
    await gate.addSource('vol', { volatile: [['attempt'], ['meta', 'sent.at'], ['list', '0']] });
    const body = (attempt: number, amount = 1) => ({
      id: 1,
      amount,
      attempt,
      list: [attempt],
      meta: { 'sent.at': attempt },
    });
    await gate.send('vol', body(1));
    expect((await gate.send('vol', body(2))).outcome).toBe('duplicate');
    expect((await gate.send('vol', JSON.stringify(body(3), null, 2))).outcome).toBe('duplicate');
    expect((await gate.send('vol', body(1, 2))).outcome).toBe('mismatch');
    // Nothing to leave out of what jsonb cannot hold: other bytes are a mismatch.
    const huge = (n: number) => `{"id":2,"attempt":${n},"x":1e400000}`;
    await gate.send('vol', huge(1));
    expect((await gate.send('vol', huge(1))).outcome).toBe('duplicate');
    expect((await gate.send('vol', huge(2))).outcome).toBe('mismatch');
  });

  test('reclaimed after a failure: the new body and headers take the place of the old', async () => {
    await gate.addSource('rec', { object: '{body.object}' });
    const first = await gate.send(
      'rec',
      { id: 1, type: 'a', object: 'x', v: 1 },
      { headers: { 'x-try': '1' } },
    );
    await fail(gate.n8n, 'rec');
    const again = { id: 1, type: 'b', object: 'y', v: 2 };
    const second = await gate.send('rec', again, {
      headers: { 'x-try': '2' },
      query: { q: '2' },
      execution: '2',
    });
    expect(second).toMatchObject({
      outcome: 'reclaimed',
      code: 200,
      attempts: 2,
      status: 'processing',
      type: 'b',
      object_id: 'y',
    });
    expect(second).toMatchObject({
      body: again,
      event_id: first.event_id,
      first_seen_at: first.first_seen_at,
    });
    expect(JSON.parse(second.answer)).toEqual({ ok: true, duplicate: false, key: 'rec:1' });
    expect(second.claim).not.toBe(first.claim);
    expect(await gate.event('rec:1')).toMatchObject({
      status: 'processing',
      attempts: 2,
      event_type: 'b',
      object_id: 'y',
      execution_id: '2',
      payload: again,
      body: Buffer.from(JSON.stringify(again)),
      headers: expect.objectContaining({ 'x-try': '2' }),
      query: { q: '2' },
    });
    expect(await finish(gate.n8n, first)).toMatchObject({ status: 'overtaken' });
    expect(await finish(gate.n8n, second)).toMatchObject({ status: 'success' });
  });

  test('reclaimed once the lease has lapsed, and not before', async () => {
    await gate.addSource('lapse');
    await gate.send('lapse', { id: 1 });
    expect((await gate.send('lapse', { id: 1 })).outcome).toBe('duplicate');
    await gate.owner.query(
      "UPDATE oncehook.webhook_events SET locked_until = now() - interval '1 ms' WHERE source = 'lapse'",
    );
    expect(await gate.send('lapse', { id: 1 })).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
    expect((await gate.send('lapse', { id: 1 })).outcome).toBe('duplicate');
  });

  test('unkeyed twice is one dead letter with a count; another body is another', async () => {
    await gate.addSource('unk');
    const row = await gate.send('unk', { no: 'id' }, { query: { q: '1' } });
    expect(row).toMatchObject({
      outcome: 'unkeyed',
      code: 200,
      content_type: json,
      source: 'unk',
      key: null,
      claim: null,
    });
    expect(JSON.parse(row.answer)).toEqual({ ok: true, quarantined: true });
    expect((await gate.send('unk', { no: 'id' })).outcome).toBe('unkeyed');
    await gate.send('unk', { no: 'other' });
    const { rows } = await gate.owner.query(
      "SELECT kind, deliveries, body, reason, query, resolved_at FROM oncehook.webhook_dead_letters WHERE source = 'unk' ORDER BY id",
    );
    expect(rows).toMatchObject([
      {
        kind: 'reception',
        deliveries: 2,
        body: Buffer.from('{"no":"id"}'),
        reason: row.reason,
        query: { q: '1' },
        resolved_at: null,
      },
      { deliveries: 1 },
    ]);
    expect(await count('events', 'unk')).toBe(0);
  });

  test('rejected: counted by reason and hour, in shards, and nothing is stored', async () => {
    await gate.addSource('rej');
    const bad = { source: 'rej', body: '{"id":1}' };
    for (let i = 0; i < 60; i++)
      await deliver(gate.n8n, { ...bad, headers: { 'x-signature': '0'.repeat(64) } });
    const row = await deliver(gate.n8n, bad);
    expect(row).toMatchObject({
      outcome: 'rejected',
      code: 401,
      source: 'rej',
      key: null,
      claim: null,
      content_type: json,
    });
    expect(JSON.parse(row.answer)).toEqual({ ok: false, error: row.reason });
    const { rows } = await gate.owner.query(
      `SELECT reason, sum(count)::int AS count, count(*)::int AS shards, max(shard) < 16 AS sharded,
         bool_and(hour = date_trunc('hour', hour, 'UTC')) AS whole
       FROM oncehook.webhook_rejections WHERE source = 'rej' GROUP BY reason ORDER BY count`,
    );
    expect(rows).toMatchObject([
      { count: 1, whole: true },
      { count: 60, sharded: true, whole: true },
    ]);
    expect(rows[1].shards).toBeGreaterThan(1);
    expect(await count('events', 'rej')).toBe(0);
    expect(await count('dead_letters', 'rej')).toBe(0);
  });

  test('a source that was switched off rejects, and comes back with its events', async () => {
    const row = await gate.addSource('off');
    await gate.send('off', { id: 1 });
    const headers = gate.sign('off', '{"id":2}');
    await gate.removeSource('off');
    expect(await deliver(gate.n8n, { source: 'off', body: '{"id":2}', headers })).toMatchObject({
      outcome: 'rejected',
      code: 401,
    });
    await gate.addSource('off', row);
    expect((await gate.send('off', { id: 1 })).outcome).toBe('duplicate');
  });

  test('unavailable: an unknown source, and a recipe that is none, make the sender try again', async () => {
    await gate.addSource('una');
    const headers = gate.sign('una', '{"id":1}');
    const recipes = ['', ' \n', 'no placeholder', '{body}', '{body.a}{body.b}', '{body.a}\\:{body.b}', '{x}'];
    const broken = [
      { source: 'nobody' },
      { source: null },
      ...recipes.map((recipe) => ({ source: 'una', recipe })),
    ];
    for (const delivery of broken) {
      const row = await deliver(gate.n8n, { body: '{"id":1}', headers, ...delivery });
      expect(row, JSON.stringify(delivery)).toMatchObject({
        outcome: 'unavailable',
        code: 503,
        claim: null,
        key: null,
      });
      expect(row.retry_after).toBeGreaterThan(0);
      expect(JSON.parse(row.answer)).toEqual({ ok: false, error: 'unavailable' });
    }
    expect(await count('dead_letters', 'una')).toBe(0);
    // A forged one is told nothing of it.
    expect((await deliver(gate.n8n, { source: 'una', recipe: '{x}', body: '{}' })).outcome).toBe('rejected');
    expect((await gate.send('una', { id: 1 })).outcome).toBe('new');
  });
});
