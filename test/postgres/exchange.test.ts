import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exchangeRow } from '../fixtures/exchange.ts';
import { type Gate, openGate, SECRET } from './harness/gate.ts';
import { type Answer, type Delivery, deliver } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('greeter', exchangeRow('greeter'));
  await gate.addSource('asker', exchangeRow('asker'));
});
afterAll(() => gate.database.drop());

const KEPT = ['webhook_events', 'webhook_duplicates', 'webhook_dead_letters', 'webhook_rejections'];
const kept = () =>
  gate.row(
    `SELECT ${KEPT.map((table) => `(SELECT count(*)::int FROM oncehook.${table}) AS ${table}`).join()}`,
  );
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const unsigned = (delivery: Delivery): Promise<Answer> =>
  deliver(gate.n8n, { source: 'greeter', headers: json, ...delivery });
const get = (query: Record<string, unknown>, delivery: Delivery = {}): Promise<Answer> =>
  unsigned({ body: '', query, mode: 'production GET', headers: {}, ...delivery });

describe('a handshake', () => {
  let before: object;
  beforeEach(async () => {
    before = await kept();
  });

  test('that is signed repeats what it came with, as text, and leaves nothing in the ledger', async () => {
    const challenge = { type: 'challenge', challenge: '<b>"x"</b>\n', id: 'e1' };
    for (const mode of ['production', 'test'])
      expect(await gate.send('greeter', challenge, { mode })).toMatchObject({
        ...{ outcome: 'handshake', code: 200, answer: '<b>"x"</b>\n', reason: 'challenge' },
        ...{ content_type: 'text/plain; charset=utf-8', key: null, claim: null, body: null, headers: null },
      });
    expect(await gate.send('greeter', { type: 'challenge', challenge: 'é'.repeat(3000) })).toMatchObject({
      answer: 'é'.repeat(1000),
    });
    expect(await kept()).toEqual(before);
  });

  test('that is signed wrongly, or not at all, is rejected and gets nothing back', async () => {
    const body = JSON.stringify({ type: 'challenge', challenge: 'abc' });
    const headers = { ...json, ...gate.sign('greeter', body, { secret: 'another' }) };
    for (const [delivery, reason] of [
      [{ body, headers }, 'signature wrong'],
      [{ body }, 'signature missing'],
    ] as const) {
      const answer = await unsigned(delivery);
      expect(answer).toMatchObject({ outcome: 'rejected', code: 403, reason });
      expect(answer.answer).not.toContain('abc');
    }
  });

  test('gets the MAC of its value under the newest live secret, in JSON that stays JSON', async () => {
    const plain = '"},{"\\\u0001é';
    const send = async (secret: string) => {
      const answer = await gate.send('greeter', { type: 'validation', payload: { plain } }, { secret });
      expect(answer).toMatchObject({ outcome: 'handshake', content_type: 'application/json' });
      return JSON.parse(answer.answer);
    };
    const mac = (secret: string) => createHmac('sha256', secret).update(plain).digest('hex');
    expect(await send(SECRET)).toEqual({ plain, mac: mac(SECRET) });
    await gate.addSecret('greeter', 'k'.repeat(100), 'newer');
    expect(await send(SECRET)).toEqual({ plain, mac: mac('k'.repeat(100)) });
    await gate.retireSecret('greeter', 'newer');
    expect(await send(SECRET)).toEqual({ plain, mac: mac(SECRET) });
    expect(await gate.send('greeter', { type: 'validation' })).toMatchObject({
      answer: `{"plain":"","mac":"${createHmac('sha256', SECRET).update('').digest('hex')}"}`,
    });
  });

  test('by GET is answered where a live secret, or its SHA-256, stands in its place', async () => {
    const subscribe = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444' };
    const digest = createHash('sha256').update(SECRET).digest('hex');
    for (const token of [SECRET, digest])
      for (const mode of ['production GET', 'test GET'])
        expect(await get({ ...subscribe, 'hub.token': token }, { mode })).toMatchObject({
          ...{ outcome: 'handshake', code: 200, answer: '1158201444', content_type: 'text/plain' },
        });
    expect(await kept()).toEqual(before);
    await gate.addSecret('greeter', 'old', 'old');
    await gate.retireSecret('greeter', 'old');
    for (const token of ['old', '', null, undefined, [SECRET], `${SECRET} `, digest.toUpperCase()])
      expect(await get({ ...subscribe, 'hub.token': token })).toMatchObject({
        ...{ outcome: 'rejected', code: 403, reason: 'token of the handshake wrong' },
      });
  });

  test('by GET is none by POST, and the other way round', async () => {
    const query = { 'hub.mode': 'subscribe', 'hub.challenge': '1', 'hub.token': SECRET };
    expect(await unsigned({ body: '{}', query })).toMatchObject({ outcome: 'rejected' });
    expect(await get({}, { body: '{"hook":1}', headers: json })).toMatchObject({ outcome: 'rejected' });
  });

  test('a GET that is none is rejected, signed or not, and never an event', async () => {
    expect(await get({ 'hub.mode': 'unsubscribe' })).toMatchObject({ outcome: 'rejected', code: 403 });
    const body = '{"id":"by-get"}';
    const headers = { ...json, ...gate.sign('greeter', body) };
    expect(await get({}, { body, headers })).toMatchObject({
      ...{ outcome: 'rejected', reason: 'GET request that is no handshake' },
    });
    expect(await gate.event('greeter:by-get')).toBeUndefined();
  });

  test('that nobody signs is answered, by JSON or form, and only if it holds nothing else', async () => {
    for (const delivery of [{ body: '{"hook":1}' }, { body: 'hook=1', headers: form }])
      expect(await unsigned(delivery)).toMatchObject({ outcome: 'handshake', code: 204, answer: '' });
    expect(await gate.send('greeter', { hook: 1 })).toMatchObject({ outcome: 'handshake' });
    expect(await kept()).toEqual(before);
    expect(await gate.send('greeter', { hook: 1, id: 'with-hook' })).toMatchObject({ outcome: 'new' });
    for (const body of ['{"hook":1,"id":"x"}', '{"hook":null}', '[{"hook":1}]', '"hook"', '', 'hook'])
      expect(await unsigned({ body })).toMatchObject({ outcome: 'rejected', reason: 'signature missing' });
    const large = JSON.stringify({ hook: 'x'.repeat(70_000) });
    expect(await unsigned({ body: large })).toMatchObject({ outcome: 'rejected' });
  });

  test('may be named by what is empty and what is absent', async () => {
    for (const events of [[], {}, ''])
      expect(await gate.send('greeter', { events })).toMatchObject({ outcome: 'handshake', code: 202 });
    expect(await gate.send('greeter', { events: [], id: 1 }, { headers: { 'x-first': '1' } })).toMatchObject({
      outcome: 'new',
    });
    for (const events of [[0], null, 0, ' ', false])
      expect(await gate.send('greeter', { events })).toMatchObject({ outcome: 'unkeyed' });
  });

  test('a body that cannot be read lacks nothing', async () => {
    const absent = { name: 'absent', method: 'POST', check: 'signature', answer: {} };
    const when = [{ from: 'body', path: ['events'], is: 'absent' }];
    await gate.addSource('lacking', { rules: { handshakes: [{ ...absent, when }] } });
    await gate.addSource('exact', { rules: { handshakes: [{ ...absent, when: [], exact: [] }] } });
    for (const source of ['lacking', 'exact']) {
      expect(await gate.send(source, '{"id":"huge","events":1e400000}')).toMatchObject({ outcome: 'new' });
      expect(await gate.send(source, '')).toMatchObject({ outcome: 'handshake' });
    }
  });

  test('is refused where the source is switched off', async () => {
    await gate.addSource('gone', exchangeRow('greeter'));
    await gate.removeSource('gone');
    expect(await unsigned({ source: 'gone', body: '{"hook":1}' })).toMatchObject({
      ...{ outcome: 'rejected', reason: 'source switched off' },
    });
  });
});

describe('a question', () => {
  test('is refused anew each time it comes, holds the request, and is no event', async () => {
    const before = await kept();
    for (let again = 0; again < 3; again++)
      expect(
        await gate.send('asker', { id: '"q1"' }, { query: { event: 'check', token: 'hidden' } }),
      ).toMatchObject({
        ...{ outcome: 'question', code: 200, answer: '{"code":13,"for":"\\"q1\\""}', reason: 'check' },
        ...{ content_type: 'application/json; charset=utf-8', key: null, claim: null },
        ...{ body: { id: '"q1"' }, query: { event: 'check', token: '[redacted]' } },
      });
    expect(await kept()).toEqual(before);
  });

  test('is rejected where its check fails, and is none by GET', async () => {
    const asked = { source: 'asker', body: '{"id":"q1"}', query: { event: 'check' } };
    expect(await unsigned(asked)).toMatchObject({ outcome: 'rejected', code: 418 });
    const headers = { ...json, ...gate.sign('asker', asked.body) };
    expect(await unsigned({ ...asked, headers, mode: 'production GET' })).toMatchObject({
      outcome: 'rejected',
    });
  });
});

describe('answers of outcomes', () => {
  test('repeat parts of the request, to a copy as well', async () => {
    const fresh = await gate.send('asker', { id: 77 });
    expect(fresh).toMatchObject({ outcome: 'new', answer: 'OK77', content_type: 'text/plain' });
    const note = { headers: { 'x-note': '<i>' }, query: { n: 'x'.repeat(1500) } };
    expect(await gate.send('asker', { id: 77 }, note)).toMatchObject({
      ...{ outcome: 'duplicate', answer: `OK77 <i> ${'x'.repeat(1000)}` },
      content_type: 'text/plain; charset=utf-8',
    });
    expect(await gate.send('asker', { id: 77, note: '"\n' })).toMatchObject({
      ...{ outcome: 'mismatch', answer: '{"twice":"\\"\\n"}' },
    });
    expect(await gate.send('asker', { type: ['x'] })).toMatchObject({
      ...{ outcome: 'unkeyed', answer: 'no id in ' },
    });
    expect(await unsigned({ source: 'asker', body: '{"id":5}' })).toMatchObject({
      ...{ outcome: 'rejected', code: 418, answer: 'not you, 5' },
    });
  });
});

test("n8n's role sees neither guards nor what makes the answers", async () => {
  for (const sql of [
    'SELECT * FROM oncehook.webhook_guards',
    "INSERT INTO oncehook.webhook_guards VALUES ('a', false, '', 'k')",
    "SELECT oncehook.mac_of('greeter', 'x')",
    "SELECT oncehook.shows_secret('greeter', NULL, NULL)",
    "SELECT oncehook.fill_answer('greeter', '{}', NULL)",
    'SELECT * FROM oncehook.exchange(NULL, NULL, NULL, NULL, NULL, NULL, NULL)',
  ])
    await expect(gate.n8n.query(sql)).rejects.toMatchObject({ code: '42501' });
});
