import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { deliver, fail, finish } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const json = 'application/json; charset=utf-8';

describe('the source', () => {
  test('knows under another name what it took before', async () => {
    await gate.addSource('lasting', { name: 'shop' });
    const first = await gate.send('lasting', { id: 'old' });
    expect(first).toMatchObject({ outcome: 'new' });
    await gate.addSource('lasting', { name: 'shop-eu' });
    expect(await gate.send('lasting', { id: 'old' })).toMatchObject({ outcome: 'duplicate', key: first.key });
    expect(await gate.send('lasting', { id: 'young' })).toMatchObject({ outcome: 'new' });
  });

  test("the provider's own answers, all but a 503", async () => {
    const answers = {
      new: { status: 202, body: 'OK', content_type: 'text/plain' },
      reclaimed: { body: '' },
      duplicate: { status: 208 },
      mismatch: { body: 'other', content_type: 'text/x' },
      unkeyed: { status: 222, body: `it's {{ 1+1 }} $1 \\` },
      rejected: { status: 403, body: '<no/>', content_type: 'application/xml' },
      unavailable: { status: 200, body: 'fine' },
    };
    await gate.addSource('ans', { answers });
    expect(await gate.send('ans', { id: 1 })).toMatchObject({
      code: 202,
      answer: 'OK',
      content_type: 'text/plain',
    });
    expect(await gate.send('ans', { id: 1 })).toMatchObject({ code: 208, content_type: json });
    expect(await gate.send('ans', { id: 1, x: 1 })).toMatchObject({
      code: 200,
      answer: 'other',
      content_type: 'text/x',
    });
    await fail(gate.n8n, 'ans');
    expect(await gate.send('ans', { id: 1 })).toMatchObject({
      outcome: 'reclaimed',
      code: 200,
      answer: '',
      content_type: json,
    });
    expect(await gate.send('ans', {})).toMatchObject({ code: 222, answer: answers.unkeyed.body });
    expect(await deliver(gate.n8n, { source: 'ans' })).toMatchObject({
      code: 403,
      answer: '<no/>',
      content_type: 'application/xml',
    });
    expect(await gate.send('ans', { id: 2 }, { recipe: '?' })).toMatchObject({
      outcome: 'unavailable',
      code: 503,
    });
  });

  test('ack after success: a duplicate has to come again until the work is done', async () => {
    await gate.addSource('ack', {
      ack: 'after-success',
      maxAttempts: 2,
      answers: { duplicate: { status: 200, body: 'ok' } },
    });
    const first = await gate.send('ack', { id: 1 });
    expect(first).toMatchObject({ outcome: 'new', code: 200 });
    const meanwhile = await gate.send('ack', { id: 1 });
    expect(meanwhile).toMatchObject({ outcome: 'duplicate', code: 503, status: 'processing' });
    expect(meanwhile.retry_after).toBeGreaterThan(0);
    expect(JSON.parse(meanwhile.answer)).toMatchObject({ ok: false, duplicate: true });
    // One byte differs: the same plan.
    expect(await gate.send('ack', '{"id": 1}')).toMatchObject({ outcome: 'mismatch', code: 503 });
    await finish(gate.n8n, first);
    expect(await gate.send('ack', { id: 1 })).toMatchObject({
      outcome: 'duplicate',
      code: 200,
      retry_after: null,
    });
    await gate.send('ack', { id: 2 });
    await fail(gate.n8n, 'ack');
    expect(await gate.send('ack', { id: 2 })).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
    await fail(gate.n8n, 'ack');
    // Dead: a retry can mend nothing.
    expect(await gate.send('ack', { id: 2 })).toMatchObject({
      outcome: 'duplicate',
      code: 200,
      status: 'dead',
    });
  });

  test('keys that hold no ids: hashed by wish, by length, and where a value looks like a hash', async () => {
    await gate.addSource('sha', { keyFormat: 'sha256' });
    await gate.addSource('plain');
    const hashed = await gate.send('sha', { id: 'secret-id' });
    expect(hashed).toMatchObject({ outcome: 'new', external_id: null });
    expect(hashed.key).toMatch(/^sha:sha256:[0-9a-f]{64}$/);
    expect((await gate.send('sha', { id: 'secret-id' })).outcome).toBe('duplicate');
    expect((await gate.send('plain', { id: 'x'.repeat(450) })).key).toBe(`plain:${'x'.repeat(450)}`);
    expect((await gate.send('plain', { id: 'é'.repeat(226) })).key).toMatch(/^plain:sha256:/);
    const forged = hashed.key?.slice('sha:'.length) ?? '';
    expect((await gate.send('plain', { id: 'secret-id' })).outcome).toBe('new');
    expect(await gate.send('plain', { id: forged })).toMatchObject({ outcome: 'new', external_id: forged });
    expect((await gate.send('plain', { id: forged })).key).not.toBe(`plain:${forged}`);
  });

  test('a run on the test URL takes no production key, whatever mode but production', async () => {
    await gate.addSource('mode');
    for (const mode of ['test', 'manual', null, ''])
      expect((await gate.send('mode', { id: 1 }, { mode })).key).toBe('test/mode:1');
    expect(await gate.send('mode', { id: 1 })).toMatchObject({ outcome: 'new', key: 'mode:1' });
    expect((await gate.send('mode', { id: 'mode:1' })).outcome).toBe('new');
  });

  test("the node's recipe decides over the source's, and null leaves it to the source", async () => {
    await gate.addSource('own', { key: '{body.id}\n{header.x-id}\n{query.id}\n{body.a}:{body.b}' });
    expect((await gate.send('own', { id: 'b' })).key).toBe('own:b');
    expect((await gate.send('own', {}, { headers: { 'x-id': 'h' } })).key).toBe('own:h');
    expect((await gate.send('own', {}, { query: { id: 'q' } })).key).toBe('own:q');
    expect((await gate.send('own', { a: 'x:y', b: 2 })).key).toBe('own:x\\:y:2');
    expect((await gate.send('own', { id: '', a: 'x', b: 3 })).key).toBe('own:x:3');
    expect((await gate.send('own', { id: {}, a: null, b: 3 })).outcome).toBe('unkeyed');
    const recipe = 'v2:{body.data."a.b".0}';
    expect((await gate.send('own', { id: 'b', data: { 'a.b': ['z'] } }, { recipe })).key).toBe('own:v2:z');
    const sha = await gate.send('own', { id: 'b', x: 1 }, { recipe: '{body_sha256}' });
    expect(sha.key).toMatch(/^own:[0-9a-f]{64}$/);
  });
});

test('credentials in headers and query are not kept, and not handed on', async () => {
  await gate.addSource('tok', { signature: { scheme: 'token', header: 'x-hook-token' } }, ['s3cret']);
  const headers = {
    authorization: 'Basic s3cret',
    cookie: 's3cret=1',
    'x-api-key': 's3cret',
    'x-keep': 'kept',
  };
  const query = { token: 's3cret', access_token: 's3cret', keep: 'kept' };
  for (const body of [{ id: 1 }, {}]) {
    const row = await gate.send('tok', body, { secret: 's3cret', headers, query });
    expect(['new', 'unkeyed']).toContain(row.outcome);
    expect(JSON.stringify(row)).not.toContain('s3cret');
  }
  const kept = await gate.row(
    `SELECT (SELECT to_jsonb(e) - 'body' - 'payload' FROM oncehook.webhook_events e WHERE source = 'tok') AS event,
       (SELECT to_jsonb(d) FROM oncehook.webhook_dead_letters d WHERE source = 'tok') AS letter`,
  );
  expect(JSON.stringify(kept)).not.toContain('s3cret');
  expect(kept).toMatchObject({
    event: { headers: { 'x-keep': 'kept' }, query: { keep: 'kept' } },
    letter: { headers: { 'x-keep': 'kept' }, query: { keep: 'kept' } },
  });
});

test('the ledger counts deliveries, and the metrics count everything', async () => {
  await gate.addSource('met');
  await gate.send('met', { id: 1 });
  for (let i = 0; i < 3; i++) await gate.send('met', { id: 1 });
  await gate.send('met', { id: 2 });
  await fail(gate.n8n, 'met', {});
  await gate.send('met', { id: 2 }); // reclaims: a delivery like every other
  await gate.send('met', { id: 2, x: 1 });
  await gate.send('met', {});
  await gate.send('met', {});
  for (let i = 0; i < 5; i++) await deliver(gate.n8n, { source: 'met' });
  await gate.owner.query(
    "UPDATE oncehook.webhook_events SET locked_until = now() - interval '1 s' WHERE idempotency_key = 'met:2'",
  );
  const ledger = await gate.owner.query(
    `SELECT idempotency_key AS key, status, attempts, deliveries::int, mismatches::int, overruns, last_seen_at > first_seen_at AS later
     FROM oncehook.webhook_ledger WHERE source = 'met' ORDER BY id`,
  );
  expect(ledger.rows).toEqual([
    { key: 'met:1', status: 'failed', attempts: 1, deliveries: 4, mismatches: 0, overruns: 0, later: true },
    { key: 'met:2', status: 'lapsed', attempts: 2, deliveries: 3, mismatches: 1, overruns: 0, later: true },
  ]);
  const { rows } = await gate.owner.query(
    "SELECT type, metric, label, value FROM oncehook.webhook_metrics WHERE source = 'met' AND metric <> 'webhook_oldest_unprocessed_seconds' ORDER BY 1, 2, 3",
  );
  expect(rows.map(({ type, metric, label, value }) => [type, metric, label, value])).toEqual([
    ['counter', 'webhook_dead_letters_total', 'reception', 1],
    ['counter', 'webhook_duplicates_total', 'duplicate', 3],
    ['counter', 'webhook_duplicates_total', 'mismatch', 1],
    ['counter', 'webhook_events_total', '', 2],
    ['counter', 'webhook_rejections_total', 'signature missing', 5],
    ['gauge', 'webhook_dead_letters', 'reception', 1],
    ['gauge', 'webhook_events', 'failed', 1],
    ['gauge', 'webhook_events', 'processing', 1],
    ['gauge', 'webhook_lapsed_claims', '', 1],
  ]);
});
