import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { type Answer, type Delivery, deliver } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('open', { signature: { scheme: 'none' } }, []);
  await gate.addSource('pair', { signature: { scheme: 'none' }, key: '{body.a}:{body.b}:{header.x-c}' }, []);
});
afterAll(() => gate.database.drop());

const runs = { numRuns: 150 };
const text = fc.string({
  unit: fc.constantFrom('a', ':', '\\', 'b', '"', "'", '$1', '{', '%', '😀', 'é', ' '),
});
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), text);
const headers = fc.dictionary(
  anyText,
  fc.oneof(anyText, fc.array(anyText), fc.jsonValue(), fc.constant(null)),
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json({ noUnicodeString: false }).map((json) => Buffer.from(json)),
  fc.json().chain((json) =>
    fc.tuple(fc.nat(json.length), fc.uint8Array({ maxLength: 3 })).map(([at, noise]) => {
      const whole = Buffer.from(json);
      return Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]);
    }),
  ),
  fc.tuple(anyText, fc.jsonValue()).map(([id, x]) => Buffer.from(JSON.stringify({ id, x }))),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  undefined,
);
const recipe = fc.constantFrom(null, '{body_sha256}', '{body.id}\n{header.x}:{query.y}', '{body.x.0}');

const sent = (delivery: Delivery): Promise<Answer> => deliver(gate.n8n, { source: 'open', ...delivery });

test('whatever comes: one row, no error, the exact bytes', async () => {
  const delivery = fc.record({ body: bytes, headers, query: headers, recipe, type: contentType });
  await fc.assert(
    fc.asyncProperty(delivery, async ({ type, ...given }) => {
      const headers = type === undefined ? given.headers : { ...given.headers, 'content-type': type };
      const row = await sent({ ...given, headers });
      expect(['new', 'duplicate', 'mismatch', 'unkeyed']).toContain(row.outcome);
      const kept = await gate.row(
        `SELECT body FROM oncehook.webhook_events WHERE id = $1 UNION ALL
         SELECT body FROM oncehook.webhook_duplicates WHERE event_id = $1 AND body IS NOT NULL UNION ALL
         SELECT body FROM oncehook.webhook_dead_letters WHERE body = $2 LIMIT 1`,
        [row.event_id, Buffer.from(given.body)],
      );
      expect(kept).toBeDefined();
      if (row.outcome !== 'mismatch') expect(kept['body']).toEqual(Buffer.from(given.body));
      // The same again has the same key, or none again.
      expect(await sent({ ...given, headers })).toMatchObject({
        key: row.key,
        outcome: row.outcome === 'new' ? 'duplicate' : row.outcome,
      });
    }),
    runs,
  );
});

test('texts in place of JSON, and no base64: one row, no error', async () => {
  const maybe = fc.option(anyText.map((value) => value.replaceAll('\0', '')));
  const delivery = fc.record({ source: maybe, headers: maybe, query: maybe, recipe: maybe, mode: maybe });
  await fc.assert(
    fc.asyncProperty(delivery, maybe, async (given, base64) => {
      const body = base64 === null ? null : { base64 };
      expect((await deliver(gate.n8n, { ...given, body })).outcome).toBe('unavailable');
      expect(['unkeyed', 'rejected', 'unavailable']).toContain(
        (await sent({ ...given, source: 'open', body })).outcome,
      );
    }),
    runs,
  );
});

test('two ids are one event where they are one text, and only there', async () => {
  const id = fc.oneof(
    anyText,
    fc.bigInt().map(String),
    fc.constantFrom('1', '1.0', '1e0', 'sha256:', 'undefined'),
  );
  const key = async (value: string) => (await sent({ body: JSON.stringify({ id: value }) })).key;
  await fc.assert(
    fc.asyncProperty(id, id, async (one, other) => {
      const keys = [await key(one), await key(other)];
      for (const [index, value] of [one, other].entries())
        expect(keys[index] === null).toBe(value === '' || !value.isWellFormed() || value.includes('\0'));
      if (keys[0] !== null && keys[1] !== null) expect(keys[0] === keys[1]).toBe(one === other);
    }),
    runs,
  );
});

test('composites are one key where every part is the same, and only there', async () => {
  const part = fc.string({ unit: fc.constantFrom('a', ':', '\\'), minLength: 1, maxLength: 4 });
  const parts = fc.tuple(part, part, part);
  const key = async ([a, b, c]: string[]) =>
    (await deliver(gate.n8n, { source: 'pair', body: JSON.stringify({ a, b }), headers: { 'x-c': c } })).key;
  const seen = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(parts, async (values) => {
      const made = (await key(values)) ?? '';
      expect(made).not.toBe('');
      const before = seen.get(made);
      if (before !== undefined) expect(before).toBe(JSON.stringify(values));
      seen.set(made, JSON.stringify(values));
    }),
    {
      numRuns: 400,
      examples: [[['a:', 'a', 'a']], [['a', ':a', 'a']], [['a\\', 'a', 'a']], [['a', '\\:a', 'a']]],
    },
  );
});

test('a recipe of whatever text, in the node: one row, no error', async () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '"',
    '.',
    ':',
    '\\',
    'body',
    'header',
    'query',
    'a',
    ' ',
    '\n',
    '{body.id}',
    '{query.q}',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const row = await sent({ body: '{"id":"r","a":1}', query: { q: ':' }, recipe: pieces.join('') });
      expect(['unavailable', 'unkeyed', 'new', 'duplicate', 'mismatch']).toContain(row.outcome);
    }),
    runs,
  );
});
