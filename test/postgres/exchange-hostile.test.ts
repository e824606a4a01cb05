import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeRow } from '../fixtures/exchange.ts';
import { type Gate, openGate, SECRET } from './harness/gate.ts';
import { FETCH, ITEMS } from './harness/gate-batches.ts';
import { claimText, deliver } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('greeter', exchangeRow('greeter'));
  await gate.addSource('asker', exchangeRow('asker'));
  await gate.addSource('guarded', { ...exchangeRow('guarded'), signature: { scheme: 'none' } }, []);
});
afterAll(() => gate.database.drop());

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('\u0000', '\ud800', '"', '\\', '{', '}', '\n', '😀', 'challenge', 'subscribe', SECRET),
);
const value = fc.oneof(odd, fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(1e300, -0, null, [], {}, ''));
const named = (...names: string[]) =>
  fc.dictionary(fc.oneof(fc.constantFrom(...names), odd), value, { maxKeys: 5 });
const body = fc.oneof(
  named('type', 'challenge', 'payload', 'hook', 'events', 'id', 'note').map((fields) =>
    JSON.stringify(fields),
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    '1e400000',
    '[]',
    'null',
    'hook=1',
    'hook=%00&hook',
    '{"hook":"\\u0000"}',
    '\ufeff{"hook":1}',
  ),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
);
const request = fc.record({
  source: fc.constantFrom('greeter', 'asker', 'guarded'),
  body,
  headers: named('x-id', 'x-note', 'x-first', 'content-type'),
  query: named('hub.mode', 'hub.challenge', 'hub.token', 'event', 'n'),
  mode: fc.constantFrom('production', 'test', 'production GET', 'test GET', null, 'production guarded'),
  form: fc.boolean(),
  signs: fc.boolean(),
});

test('whatever comes: one row, no error, an answer that is a text, and no event by GET', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ form, signs, ...given }) => {
      const headers = {
        ...given.headers,
        ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        ...(signs && given.source !== 'guarded' ? gate.sign(given.source, given.body) : {}),
      };
      const row = await deliver(gate.n8n, { ...given, headers });
      expect(['new', 'duplicate', 'mismatch', 'unkeyed', 'rejected', 'handshake', 'question']).toContain(
        row.outcome,
      );
      expect(typeof row.answer).toBe('string');
      expect(row.code).toBeGreaterThanOrEqual(200);
      expect(row.answer.length).toBeLessThan(10_000);
      if (row.content_type.includes('json') && row.answer !== '') JSON.parse(row.answer);
      if (given.mode?.endsWith(' GET') && given.source !== 'guarded')
        expect(['rejected', 'handshake']).toContain(row.outcome);
      if (!signs && given.source === 'asker') expect(row.outcome).toBe('rejected');
    }),
    { numRuns: 400 },
  );
});

test.each([
  ['claim-items', ITEMS.rules],
  ['claim-delivery', FETCH.rules],
])(
  'a handshake has its answer by %s as well, and a GET that is none is rejected',
  async (statement, more) => {
    const { rules, ...row } = exchangeRow('greeter');
    await gate.addSource(statement, { ...row, rules: { ...rules, ...more } });
    const ask = async (delivery: object) => {
      const results: unknown = await gate.n8n.query(claimText({ source: statement, ...delivery }, statement));
      return (results as { rows: object[] }[]).at(-1)?.rows;
    };
    const challenge = '{"type":"challenge","challenge":"abc"}';
    expect(await ask({ body: challenge, headers: gate.sign(statement, challenge) })).toEqual([
      expect.objectContaining({ outcome: 'handshake', code: 200, answer: 'abc' }),
    ]);
    expect(await ask({ body: challenge })).toEqual([
      expect.objectContaining({ outcome: 'rejected', code: 403 }),
    ]);
    const query = { 'hub.mode': 'subscribe', 'hub.token': SECRET, 'hub.challenge': '7' };
    expect(await ask({ body: '', query, mode: 'production GET' })).toEqual([
      expect.objectContaining({ outcome: 'handshake', answer: '7' }),
    ]);
    expect(await ask({ body: '', mode: 'production GET' })).toEqual([
      expect.objectContaining({ outcome: 'rejected' }),
    ]);
  },
);
