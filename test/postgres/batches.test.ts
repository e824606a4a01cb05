import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { deliverItems, eventsOf, ITEMS, type ItemAnswer, sendEvents } from './harness/gate-batches.ts';
import { fail, finish, replay } from './harness/gate-statements.ts';

let gate: Gate;
let made = 0;
/** Ids that no other test has. */
const fresh = (count: number): string[] => Array.from({ length: count }, () => `e${++made}`);
const outcomes = (rows: readonly ItemAnswer[]): string[] => rows.map(({ outcome }) => outcome);
const statuses = async (ids: readonly string[]): Promise<unknown[]> => {
  const found: unknown[] = [];
  for (const id of ids) found.push((await gate.event(`items:${id}`))?.['status']);
  return found;
};

beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('items', { ...ITEMS, maxAttempts: 2 }, []);
  await gate.addSource('after', { ...ITEMS, ack: 'after-success' }, []);
  await gate.addSource('signed', { key: '{body.events.0.id}', rules: { items: [['events', null]] } });
});
afterAll(() => gate.database.drop());

describe('a request of several events', () => {
  test('gives each a row, a key, a body and a token of its own, in the order of the request', async () => {
    const rows = await sendEvents(gate, ['z', 'a', 'm']);
    expect(rows.map(({ outcome, key, type, body }) => ({ outcome, key, type, body }))).toEqual(
      ['z', 'a', 'm'].map((id) => ({
        outcome: 'new',
        key: `items:${id}`,
        type: 'made',
        body: { events: [{ id, type: 'made' }] },
      })),
    );
    expect(new Set(rows.map(({ claim }) => claim)).size).toBe(3);
    const event = await gate.event('items:a');
    expect(String(event['body'])).toBe('{"events":[{"id":"a","type":"made"}]}');
    expect(event).toMatchObject({ item: 2, payload: { events: [{ id: 'a', type: 'made' }] } });
    expect(event['body_sha256']).toEqual(
      (await gate.row<{ sha: Buffer }>('SELECT sha256($1::bytea) AS sha', [event['body']])).sha,
    );
  });

  test('is answered once, with what became of its events', async () => {
    const [a, b, c] = fresh(3);
    const [first] = await sendEvents(gate, [a ?? '', b ?? '']);
    expect(first).toMatchObject({ request_outcome: 'new', request_code: 200 });
    expect(JSON.parse(first?.request_answer ?? '')).toEqual({
      ...{ ok: true, items: 2, new: 2, reclaimed: 0, duplicate: 0, mismatch: 0, unkeyed: 0 },
    });
    const rows = await deliverItems(gate.n8n, {
      source: 'items',
      body: JSON.stringify({ events: [{ id: b }, { id: c }, { none: 1 }] }),
    });
    expect(outcomes(rows)).toEqual(['mismatch', 'new', 'unkeyed']);
    for (const row of rows) {
      expect(row).toMatchObject({ request_outcome: 'new', request_code: 200 });
      expect(JSON.parse(row.request_answer)).toMatchObject({ items: 3, new: 1, mismatch: 1, unkeyed: 1 });
    }
    const [again] = await sendEvents(gate, [a ?? '']);
    expect(again).toMatchObject({ request_outcome: 'duplicate', request_code: 200 });
  });

  test('is answered in the words of the provider', async () => {
    await gate.addSource(
      'worded',
      { ...ITEMS, answers: { new: { status: 202, body: 'OK', content_type: 'text/plain' } } },
      [],
    );
    const body = eventsOf('w1', 'w2');
    expect((await deliverItems(gate.n8n, { source: 'worded', body }))[1]).toMatchObject({
      ...{ request_code: 202, request_answer: 'OK', request_content_type: 'text/plain' },
    });
    expect((await deliverItems(gate.n8n, { source: 'worded', body }))[0]).toMatchObject({
      ...{ request_code: 200, request_outcome: 'duplicate' },
    });
  });

  test('with one key twice: the second is a duplicate of the first', async () => {
    const [a, b] = fresh(2);
    const rows = await sendEvents(gate, [a ?? '', b ?? '', a ?? '']);
    expect(outcomes(rows)).toEqual(['new', 'new', 'duplicate']);
    expect(rows[2]?.event_id).toBe(rows[0]?.event_id);
    expect(rows[2]?.claim).toBeNull();
    expect(
      await gate.row('SELECT count(*)::int AS n FROM oncehook.webhook_duplicates WHERE event_id = $1', [
        rows[0]?.event_id,
      ]),
    ).toEqual({ n: 1 });
  });

  test('that is sent again claims nothing, and after a failure only what is not done', async () => {
    const ids = fresh(3);
    const rows = await sendEvents(gate, ids, { execution: 'first' });
    expect(outcomes(await sendEvents(gate, ids))).toEqual(['duplicate', 'duplicate', 'duplicate']);
    await finish(gate.n8n, rows[0] as ItemAnswer);
    await fail(gate.n8n, 'items', { execution: 'first', error: 'boom' });
    expect(await statuses(ids)).toEqual(['success', 'failed', 'failed']);
    expect(await gate.event(`items:${ids[1]}`)).toMatchObject({ error: 'boom' });
    expect(String((await gate.event(`items:${ids[2]}`))['error'])).toContain('boom');
    const again = await sendEvents(gate, ids, { execution: 'second' });
    expect(outcomes(again)).toEqual(['duplicate', 'reclaimed', 'reclaimed']);
    expect(again[0]).toMatchObject({ request_outcome: 'reclaimed' });
    for (const row of again.slice(1))
      expect(await finish(gate.n8n, row)).toMatchObject({ status: 'success' });
  });

  test('whose event fails for good does not give up the events behind it', async () => {
    const ids = fresh(3);
    for (const execution of ['x1', 'x2']) {
      await sendEvents(gate, ids, { execution });
      await fail(gate.n8n, 'items', { execution });
    }
    expect(await statuses(ids)).toEqual(['dead', 'failed', 'failed']);
    const due = await gate.row(
      'SELECT id::text, next_attempt_at <= now() AS due FROM oncehook.webhook_events WHERE idempotency_key = $1',
      [`items:${ids[1]}`],
    );
    expect(due['due']).toBe(true);
    // One by one, as a replay takes them.
    const row = await replay(gate.n8n, 'items', String(due['id']), { execution: 'x3' });
    expect(row).toMatchObject({ outcome: 'reclaimed', body: { events: [{ id: ids[1], type: 'made' }] } });
    expect(await finish(gate.n8n, row)).toMatchObject({ status: 'success' });
    expect(await fail(gate.n8n, 'items', { execution: 'x3' })).toMatchObject({ status: 'unknown' });
  });

  test('whose run fails at the mark of one event: that one is done, the others are not', async () => {
    const ids = fresh(3);
    const rows = await sendEvents(gate, ids, { execution: 'mark' });
    await finish(gate.n8n, rows[0] as ItemAnswer);
    await fail(gate.n8n, 'items', { execution: 'mark', lastNode: 'Mark success' });
    expect(await statuses(ids)).toEqual(['success', 'success', 'failed']);
  });

  test('takes over what has lapsed, and the run that lost it is told so', async () => {
    const ids = fresh(2);
    const rows = await sendEvents(gate, ids);
    await gate.owner.query(
      "UPDATE oncehook.webhook_events SET locked_until = now() - interval '1 s' WHERE idempotency_key = ANY ($1)",
      [ids.map((id) => `items:${id}`)],
    );
    const taken = await sendEvents(gate, [ids[1] ?? '', ids[0] ?? '']);
    expect(outcomes(taken)).toEqual(['reclaimed', 'reclaimed']);
    expect(await gate.event(`items:${ids[1]}`)).toMatchObject({ item: 1, attempts: 2 });
    expect(await finish(gate.n8n, rows[0] as ItemAnswer)).toMatchObject({ status: 'overtaken' });
  });

  test('whose sender waits: it is told to come again while another run holds an event', async () => {
    const send = (...ids: string[]) => deliverItems(gate.n8n, { source: 'after', body: eventsOf(...ids) });
    expect((await send('q1', 'q1'))[0]).toMatchObject({ request_outcome: 'new', request_code: 200 });
    expect((await send('q1', 'q2'))[0]).toMatchObject({ request_outcome: 'new', request_code: 503 });
  });

  test('is of the test URL: its keys are its own', async () => {
    const [id = ''] = fresh(1);
    await sendEvents(gate, [id]);
    expect((await sendEvents(gate, [id], { mode: 'test' }))[0]).toMatchObject({
      ...{ outcome: 'new', key: `test/items:${id}` },
    });
  });
});

describe('a request that holds no event to claim gives one row', () => {
  test.each([
    ['an empty list', '{"events":[]}'],
    ['no list', '{"events":{"id":1}}'],
    ['another body', '{"id":"x"}'],
    ['no JSON', 'events'],
    ['no body', ''],
    ['more events than are taken', eventsOf(...Array.from({ length: 1001 }, (_, n) => n))],
  ])('%s: kept as a dead letter', async (_, body) => {
    const rows = await deliverItems(gate.n8n, { source: 'items', body });
    expect(rows).toMatchObject([{ outcome: 'unkeyed', request_outcome: 'unkeyed', request_code: 200 }]);
    const letter = await gate.row(
      'SELECT body FROM oncehook.webhook_dead_letters WHERE source = $1 ORDER BY last_seen_at DESC, id DESC LIMIT 1',
      ['items'],
    );
    expect(String(letter['body'])).toBe(body);
  });

  test('of the most events that are taken, all are', async () => {
    const ids = Array.from({ length: 1000 }, (_, n) => `most${n}`);
    expect(new Set(outcomes(await sendEvents(gate, ids)))).toEqual(new Set(['new']));
  });

  test('a forged one', async () => {
    const rows = await deliverItems(gate.n8n, {
      source: 'signed',
      body: eventsOf('f'),
      headers: { 'x-signature': '00' },
    });
    expect(rows).toMatchObject([{ outcome: 'rejected', request_outcome: 'rejected', request_code: 401 }]);
    const right = { headers: gate.sign('signed', eventsOf('f')), body: eventsOf('f') };
    expect(await deliverItems(gate.n8n, { source: 'signed', ...right })).toMatchObject([{ outcome: 'new' }]);
  });

  test.each([
    ['a source that is not there', { source: 'nobody' }],
    ['a recipe that is none', { recipe: '{body' }],
    ['no base64', { body: { base64: '?' } }],
  ])('%s: the sender must retry', async (_, delivery) => {
    const rows = await deliverItems(gate.n8n, { source: 'items', body: eventsOf('x'), ...delivery });
    expect(rows).toMatchObject([{ outcome: 'unavailable', request_code: 503 }]);
  });

  test('a source whose requests hold one event', async () => {
    await gate.addSource('single', { signature: { scheme: 'none' } }, []);
    expect(await deliverItems(gate.n8n, { source: 'single', body: eventsOf('x') })).toMatchObject([
      { outcome: 'unavailable', request_code: 503 },
    ]);
  });
});

describe('cutting a body', () => {
  const cut = async (body: string, ...paths: (string | null)[][]): Promise<string[]> =>
    (
      await gate.row<{ bodies: string[] }>('SELECT oncehook.item_bodies($1::json, $2::jsonb) AS bodies', [
        body,
        JSON.stringify(paths),
      ])
    ).bodies;

  test('keeps digits, escapes, spaces and the order of what stands beside', async () => {
    const body = String.raw`{"a":1.0,"events":[{"id":12345678901234567890.10,"u":"\u00e9\/"}, [ 1 ]],"é\"":1e3}`;
    expect(await cut(body, ['events', null])).toEqual([
      String.raw`{"a":1.0,"events":[{"id":12345678901234567890.10,"u":"\u00e9\/"}],"é\"":1e3}`,
      String.raw`{"a":1.0,"events":[[ 1 ]],"é\"":1e3}`,
    ]);
  });

  test('of a body that is a list, and of lists in lists', async () => {
    expect(await cut('[1,2]', [null])).toEqual(['[1]', '[2]']);
    const body =
      '{"o":"x","entry":[{"id":1,"changes":[{"v":1},{"v":2}]},{"id":2,"changes":[]},{"id":3,"changes":[{"v":3}]},4]}';
    expect(await cut(body, ['entry', null, 'changes', null])).toEqual([
      '{"o":"x","entry":[{"id":1,"changes":[{"v":1}]}]}',
      '{"o":"x","entry":[{"id":1,"changes":[{"v":2}]}]}',
      '{"o":"x","entry":[{"id":3,"changes":[{"v":3}]}]}',
    ]);
  });

  test('by several paths: what holds an element of an earlier one is none itself', async () => {
    const body = '{"e":[{"m":[1,2],"s":[3]},{"s":[]},{"x":9}]}';
    expect(await cut(body, ['e', null, 'm', null], ['e', null, 's', null], ['e', null])).toEqual([
      '{"e":[{"m":[1],"s":[3]}]}',
      '{"e":[{"m":[1,2],"s":[3]}]}',
      '{"e":[{"m":[2],"s":[3]}]}',
      '{"e":[{"s":[]}]}',
      '{"e":[{"x":9}]}',
    ]);
  });

  test('of equal names the last counts, as everywhere', async () => {
    expect(await cut('{"e":[1],"a":1,"e":[2],"b":2}', ['e', null])).toEqual(['{"a":1,"e":[2],"b":2}']);
  });

  test('is given up where it would fill the memory', async () => {
    const filler = 'x'.repeat(1 << 20);
    expect(await cut(JSON.stringify({ filler, e: [...Array(100).keys()] }), ['e', null])).toBeNull();
    const nested = JSON.stringify({ e: Array(40).fill({ f: Array(40).fill(1) }) });
    expect(await cut(nested, ['e', null, 'f', null])).toBeNull();
  });
});

test('a body that was damaged on its way names no event by what may have been an id', async () => {
  const rows = await deliverItems(gate.n8n, {
    source: 'items',
    body: String.raw`{"events":[{"id":"d\u0000"},{"id":"d-fine","n":1e400000}]}`,
  });
  expect(outcomes(rows)).toEqual(['unkeyed', 'new']);
  expect(rows[1]?.key).toBe('items:d-fine');
});

test('equal events without a key are one dead letter that came twice', async () => {
  const body = '{"events":[{"lost":1},{"lost":1}]}';
  expect(outcomes(await deliverItems(gate.n8n, { source: 'items', body }))).toEqual(['unkeyed', 'unkeyed']);
  expect(
    await gate.row('SELECT deliveries FROM oncehook.webhook_dead_letters WHERE body = $1', [
      Buffer.from('{"events":[{"lost":1}]}'),
    ]),
  ).toEqual({ deliveries: 2 });
});
