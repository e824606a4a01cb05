import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { type Answer, type Delivery, deliver, fail, replay } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('open', { signature: { scheme: 'none' }, object: '{body.object}' }, []);
  await gate.addSource('heads', { signature: { scheme: 'none' }, key: '{header.x-id}\n{query.id}' }, []);
  await gate.addSource('signed');
});
afterAll(() => gate.database.drop());

const MB = 1024 * 1024;
const open = (body: Delivery['body'], rest: Delivery = {}): Promise<Answer> =>
  deliver(gate.n8n, { source: 'open', body, ...rest });
const key = async (body: string | Uint8Array, rest: Delivery = {}): Promise<string | null> =>
  (await open(body, rest)).key;

/** The bytes that the ledger holds for what was just answered. */
async function kept(row: Answer): Promise<Buffer> {
  const { body } = await gate.row<{ body: Buffer }>(
    row.outcome === 'unkeyed'
      ? 'SELECT body FROM oncehook.webhook_dead_letters ORDER BY last_seen_at DESC, id DESC LIMIT 1'
      : `SELECT body FROM oncehook.webhook_events WHERE id = ${row.event_id}`,
  );
  return body;
}

const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
const invalid = (text: string) => Buffer.from(text.replaceAll('?', '\xff'), 'latin1');
const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** Body, the value of its key (null: unkeyed), headers. */
const bodies: Record<
  string,
  [body: string | Buffer, value: string | null, headers?: Record<string, unknown>]
> = {
  'a number beyond 2^53': ['{"id":9007199254740993}', '9007199254740993'],
  'the same as a text': ['{"id":"9007199254740994"}', '9007199254740994'],
  'a number with digits of its own': [
    '{"id":1.0000000000000000000000000000001000}',
    '1.0000000000000000000000000000001000',
  ],
  'true as an id': ['{"id":true}', null],
  'null as an id': ['{"id":null}', null],
  'an empty id': ['{"id":""}', null],
  'an object as an id': ['{"id":{"a":1}}', null],
  'a list as an id': ['{"id":["a"]}', null],
  'undefined as a text': ['{"id":"undefined"}', 'undefined'],
  'U+0000 beside the id': [String.raw`{"id":"beside-nul","x":"\u0000"}`, 'beside-nul'],
  'U+0000 in the id': [String.raw`{"id":"in-nul\u0000"}`, null],
  'a lone surrogate beside the id': [
    String.raw`{"id":"beside-high","x":"\ud800","y":"\udc00"}`,
    'beside-high',
  ],
  'a lone high surrogate in the id': [String.raw`{"id":"a\ud83d"}`, null],
  'a lone low surrogate in the id': [String.raw`{"id":"a\ude00"}`, null],
  'surrogates in the wrong order': [String.raw`{"id":"\ude00\ud83d"}`, null],
  'a pair of surrogates, and a lone one beside': [String.raw`{"id":"\ud83d\ude00","x":"\ud83d"}`, '😀'],
  'escaped backslashes before what looks like one': [
    String.raw`{"id":"\\ud800\\u0000","x":"\ud800"}`,
    String.raw`\ud800\u0000`,
  ],
  'the replacement character as it is': ['{"id":"a\ufffd"}', 'a\ufffd'],
  'a NUL byte in the id': ['{"id":"a\0b"}', null],
  'raw control characters in the id': ['{"id":"a\x01\x02n"}', null],
  nothing: ['', null],
  'a blank': [' ', null],
  'a form': ['id=form%201&type=a+b', 'form 1', form],
  'a form with a hostile pair': [`%=%zz&&=&id=f'"\\%22%5C%26%3d%0a&id`, null, form],
  'a form with bytes that are no UTF-8': ['id=ok-form&x=%ff', 'ok-form', form],
  'a form whose id is no UTF-8': ['id=%ff', null, form],
  'a form whose id holds NUL': ['id=a%00', null, form],
  'a form that is JSON in truth': ['{"id":"no form"}', 'no form', form],
  'multipart as text': ['--x\r\nContent-Disposition: form-data; name="id"\r\n\r\n1\r\n--x--', null],
  cloudevents: ['{"id":"cloud"}', 'cloud', { 'content-type': 'application/cloudevents+json' }],
  'a batch of cloudevents': [
    '[{"id":"cloud"}]',
    null,
    { 'content-type': 'application/cloudevents-batch+json' },
  ],
  'no content type': ['{"id":"typeless"}', 'typeless', {}],
  'a wrong content type': ['{"id":"wrong type"}', 'wrong type', { 'content-type': 'image/png' }],
  'a byte order mark': ['\ufeff{"id":"bom"}', 'bom'],
  'UTF-16': [Buffer.from('{"id":"utf16"}', 'utf16le'), null],
  gzip: [Buffer.from('1f8b0800000000000003', 'hex'), null],
  'invalid UTF-8 beside the id': [invalid('{"id":"beside-invalid","x":"?"}'), 'beside-invalid'],
  'invalid UTF-8 in the id': [invalid('{"id":"?"}'), null],
  XML: ['<event id="1"/>', null],
  'a list': ['[{"id":1}]', null],
  'a text': ['"id"', null],
  'a number': ['12', null],
  'a literal': ['true', null],
  null: ['null', null],
  'equal names': ['{"id":"first","id":"last"}', 'last'],
  'equal names in what jsonb cannot hold': ['{"id":"first","id":"last!","x":1e400000}', 'last!'],
  'a number that jsonb cannot hold': ['{"id":"huge","x":1e400000}', 'huge'],
  'a number that jsonb cannot hold as the id': ['{"id":1e400000}', '1e400000'],
  'both at once': [String.raw`{"id":"both","x":1e400000,"y":"\u0000"}`, 'both'],
  'nested 2,000 deep': [`{"id":"deep","x":${deep(2000)}}`, 'deep'],
  'nested 100,000 deep': [deep(100_000), null],
  'opened 100,000 times and never closed': ['{"id":'.repeat(100_000), null],
};

describe('bodies', () => {
  test.each(Object.entries(bodies))('%s', async (_name, [body, value, headers]) => {
    const bytes = Buffer.from(body);
    const sent = headers ?? { 'content-type': 'application/json' };
    const row = await open(bytes, { headers: sent });
    expect(row).toMatchObject(
      value === null ? { outcome: 'unkeyed', key: null } : { outcome: 'new', key: `open:${value}` },
    );
    expect(await kept(row)).toEqual(bytes);
    if (row.outcome === 'new') {
      expect((await open(bytes, { headers: sent })).outcome).toBe('duplicate');
      await fail(gate.n8n, 'open');
      const again = await replay(gate.n8n, 'open', row.event_id);
      expect(again).toMatchObject({ outcome: 'reclaimed', headers: row.headers });
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(row.body));
    } else {
      const repeated = await open(bytes, { headers: sent });
      expect(repeated).toMatchObject({ outcome: 'unkeyed', reason: row.reason });
    }
    const signed = await gate.send('signed', bytes, { headers: sent as Record<string, string> });
    expect(signed).toMatchObject({ outcome: row.outcome });
  });

  // Each of these took Postgres minutes, or a statement time-out, by the obvious way.
  test.each<[string, string | Buffer, Record<string, unknown>]>([
    ['text', `{"id":"megabytes","x":"${'x'.repeat(5 * MB)}"}`, {}],
    ['numbers of 131,072 digits', `{"id":"numbers","x":[${'1e131071,'.repeat(100_000)}1]}`, {}],
    ['lone surrogates', `{"id":"surrogates","x":"${'\\ud800'.repeat(200_000)}"}`, {}],
    ['a form of escapes', `id=escapes&x=${'%20'.repeat(400_000)}`, form],
    ['a form of pairs', `id=pairs&${'x=%20&'.repeat(200_000)}`, form],
    ['NUL', Buffer.alloc(MB), {}],
    ['0xff', Buffer.alloc(MB, 0xff), {}],
    ['backslashes', '\\'.repeat(MB), {}],
  ])('megabytes of %s, in seconds', async (_name, body, headers) => {
    const started = performance.now();
    const row = await open(body, { headers });
    // What this is about takes minutes, whatever the machine; a busy one takes ten seconds for what should be one.
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(row.outcome).toBe(String(body).includes('id') ? 'new' : 'unkeyed');
    expect((await kept(row)).equals(Buffer.from(body))).toBe(true);
  });

  test('an id of 131,072 digits', async () => {
    const digits = await open('{"id":1e131071}');
    expect(digits).toMatchObject({ outcome: 'new', external_id: expect.stringMatching(/^10{511}$/) });
    expect(digits.key).toMatch(/^open:sha256:/);
  });

  test('an id of 10 kB', async () => {
    const long = 'y'.repeat(10_000);
    expect(await open(`{"id":"${long}1"}`)).toMatchObject({ outcome: 'new' });
    expect(await open(`{"id":"${long}2"}`)).toMatchObject({ outcome: 'new' });
    expect(await open(`{"id":"${long}1"}`)).toMatchObject({ outcome: 'duplicate' });
  });

  test('ids that differ only in what Postgres cannot hold never make one key', async () => {
    const ids = [
      ...['\\u0000', '\\ud800', '\\ud801', '\\udc00', '\\ufffd', '\\\\u0000', '\\u0001', ' ', ''].map((x) =>
        Buffer.from(`{"id":"same${x}","other":"\\u0000"}`),
      ),
      ...['\\ud800', '\\ufffd', ' ', ''].map((x) => Buffer.from(`{"id":"same${x}"}`)),
      Buffer.from('{"id":"same\\u001a"}'),
      Buffer.from('{"id":"same\0"}'),
      invalid('{"id":"same?"}'),
      Buffer.from('{"id":"same\xe9"}', 'latin1'),
      Buffer.from('{"id":"sameé"}'),
      Buffer.from('{"id":"same\xc3\xa9","x":"\xff"}', 'latin1'), // é, and elsewhere no UTF-8
      Buffer.from('{"id":"sameÃ©"}'), // the same bytes read as Latin-1
    ];
    const texts = new Map<string, Set<string>>();
    for (const body of ids) {
      const made = await key(body);
      if (!made) continue;
      const id = body.toString('latin1').split('"')[3] ?? '';
      texts.set(made, (texts.get(made) ?? new Set()).add(id));
    }
    // `same`, `same `, U+FFFD and so on are keyed, once or twice, each from one text.
    expect([...texts.values()].filter((set) => set.size > 1)).toEqual([]);
    expect(texts.size).toBeGreaterThan(5);
    const forms = [
      'id=same2%00',
      'id=same2+',
      'id=same2',
      'id=same2%FF',
      'id=same2%C3%BF',
      'id=same2%EF%BF%BD',
    ];
    const keys = [];
    for (const body of forms) keys.push(await key(body, { headers: form }));
    expect(keys).toEqual([null, 'open:same2 ', 'open:same2', null, 'open:same2ÿ', null]);
  });

  test('no body that n8n could hand on, and a text that is not base64', async () => {
    // Without the bytes nothing could be kept, so nothing is acknowledged: whoever has an id in a header, too.
    const multipart = { body: null, headers: { 'x-id': 'multipart' } };
    for (const source of ['open', 'heads', 'signed'])
      expect(await deliver(gate.n8n, { ...multipart, source })).toMatchObject({
        outcome: 'rejected',
        code: 401,
      });
    for (const base64 of ['%%%', 'a', '====', 'e30', "e30=' OR 1=1 --", 'é', '\\', `${'A'.repeat(99)}!`])
      for (const source of ['open', 'signed'])
        expect(await deliver(gate.n8n, { source, body: { base64 } })).toMatchObject({
          outcome: 'unavailable',
          code: 503,
        });
  });
});
