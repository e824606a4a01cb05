import { brotliCompressSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { deliver } from './harness/deliver.ts';
import { listExecutions } from './harness/executions.ts';
import type { TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
/** Everything that some layer on the way might take for its own syntax. */
const EVIL = `, ' " '' $1 $2 $& $$ \`\${1+1}\` {{ 1+1 }} {{ $json }} \\ \\n %s %27 ; '); DROP TABLE effects; --`;

let world: World;
let shop: TestSource;

beforeAll(async () => {
  world = await createWorld({
    name: 'hostile',
    sources: `
  shop: { provider: custom, path: hostile/shop, secrets: [FIRST_SECRET] }
  open: { provider: custom, path: hostile/open, signature: { scheme: none }, addresses: any }
`,
  });
  shop = world.source('shop');
});

interface Hostile {
  body: string | Buffer;
  headers?: Record<string, string>;
  /** What the ledger must name it; any key where left out. */
  key?: string;
}

const withId = (id: string, rest: string) => `{"event_id":"${id}",${rest}}`;
const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const keyed: Record<string, Hostile> = {
  'an integer beyond 2^53': { body: '{"event_id":9007199254740993}', key: 'shop:9007199254740993' },
  'its neighbour': { body: '{"event_id":9007199254740992}', key: 'shop:9007199254740992' },
  'an id of 10 kB': { body: JSON.stringify({ event_id: `long${'x'.repeat(10_000)}` }) },
  'NUL beside the id': { body: withId('nul', String.raw`"a":"x\u0000y"`), key: 'shop:nul' },
  'a lone surrogate beside the id': {
    body: withId('surrogate', String.raw`"a":"\ud800"`),
    key: 'shop:surrogate',
  },
  'an empty body, the id in a header': { body: '', headers: { 'x-event-id': 'empty' }, key: 'shop:empty' },
  'a form': {
    body: 'event_id=form+1%3A&a=%24%26&a=%zz',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    key: 'shop:form 1:',
  },
  'application/cloudevents+json': {
    body: withId('cloud', '"specversion":"1.0"'),
    headers: { 'content-type': 'application/cloudevents+json' },
    key: 'shop:cloud',
  },
  'no content type': { body: withId('typeless', '"a":1'), headers: {}, key: 'shop:typeless' },
  'a byte order mark': { body: `\ufeff${withId('bom', '"a":1')}`, key: 'shop:bom' },
  'UTF-16 called JSON': {
    body: Buffer.from(withId('utf16', '"a":1'), 'utf16le'),
    headers: { 'content-type': 'application/octet-stream', 'x-event-id': 'utf16' },
    key: 'shop:utf16',
  },
  'bytes that are not UTF-8': {
    body: Buffer.concat([
      Buffer.from('{"event_id":"latin","a":"'),
      Buffer.from([0xe9, 0xff, 0xc0]),
      Buffer.from('"}'),
    ]),
    key: 'shop:latin',
  },
  '5 MB': { body: JSON.stringify({ event_id: 'large', pad: '$& '.repeat(1_747_000) }), key: 'shop:large' },
  'depth 1,000': { body: withId('deep', `"a":${deep(1000)}`), key: 'shop:deep' },
  'an array, the id in a header': {
    body: '[1,2]',
    headers: { ...JSON_TYPE, 'x-event-id': 'array' },
    key: 'shop:array',
  },
  'a scalar, the id in a header': {
    body: '5',
    headers: { ...JSON_TYPE, 'x-event-id': 'scalar' },
    key: 'shop:scalar',
  },
  'one key twice': { body: '{"event_id":"first","event_id":"last"}', key: 'shop:last' },
  'a number beyond every type': { body: withId('huge', '"a":1e400000,"b":-1e400000'), key: 'shop:huge' },
  'a number of 131 kB when written out': { body: withId('wide', '"a":1e131071'), key: 'shop:wide' },
  'names of the prototype': {
    body: withId('proto', '"__proto__":{"a":1},"constructor":2,"toString":3'),
    key: 'shop:proto',
  },
  'text and not JSON': {
    body: 'hello {{ 1+1 }}',
    headers: { 'content-type': 'text/plain', 'x-event-id': 'text' },
    key: 'shop:text',
  },
  XML: {
    body: '<a><b>1</b></a>',
    headers: { 'content-type': 'text/xml', 'x-event-id': 'xml' },
    key: 'shop:xml',
  },
};

describe('is taken, byte for byte, once', () => {
  test.each(Object.entries(keyed))('%s', async (_, { body, headers = JSON_TYPE, key }) => {
    const request = shop.request(body, { headers });
    const first = await shop.deliver(request);
    expect(first).toMatchObject({ status: 200, outcome: 'new' });
    if (key) expect(shop.keyOf(first)).toBe(key);
    const [event] = await world.sql<{ body: Buffer }>(
      'SELECT body FROM oncehook.webhook_events WHERE idempotency_key = $1',
      [shop.keyOf(first)],
    );
    expect(event?.body.equals(request.body)).toBe(true);
    expect(await shop.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
    await waitFor(
      'the event to be done',
      async () => (await shop.ledger(shop.keyOf(first)))?.status === 'success',
    );
    expect(await shop.effects(shop.keyOf(first))).toBe(1);
  });

  test('gzip: the unpacked bytes', async () => {
    const request = shop.request(withId('gzip', '"a":1'), { headers: JSON_TYPE });
    const packed = {
      body: gzipSync(request.body),
      headers: { ...request.headers, 'content-encoding': 'gzip' },
    };
    expect(await shop.deliver(packed)).toMatchObject({ status: 200, outcome: 'new' });
    const [event] = await world.sql<{ body: Buffer }>(
      `SELECT body FROM oncehook.webhook_events WHERE idempotency_key = 'shop:gzip'`,
    );
    expect(event?.body.equals(request.body)).toBe(true);
  });

  test('an id as number and as text is one event; the other body is kept', async () => {
    const [number, text] = ['{"event_id":9007199254740995}', '{"event_id":"9007199254740995"}'];
    expect(await shop.deliver(shop.request(number, { headers: JSON_TYPE }))).toMatchObject({
      outcome: 'new',
    });
    const answer = await shop.deliver(shop.request(text, { headers: JSON_TYPE }));
    expect(answer).toMatchObject({ status: 200, outcome: 'mismatch' });
    expect(JSON.parse(answer.body)).toMatchObject({ duplicate: true, mismatch: true });
    const audit = await world.sql(
      `SELECT d.body FROM oncehook.webhook_duplicates d JOIN oncehook.webhook_events e ON e.id = d.event_id
       WHERE e.idempotency_key = 'shop:9007199254740995'`,
    );
    expect(audit).toEqual([{ body: Buffer.from(text) }]);
  });
});

const unkeyed: Record<string, Hostile> = {
  'an empty body': { body: '' },
  'an array': { body: '[{"event_id":"x"}]' },
  'a scalar': { body: '"event_id"' },
  null: { body: 'null' },
  'an id with NUL': { body: String.raw`{"event_id":"a\u0000b"}` },
  'an id with a lone surrogate': { body: String.raw`{"event_id":"a\ud800b"}` },
  'an id that is an object': { body: '{"event_id":{"a":1}}' },
  'an empty id': { body: '{"event_id":"","id":null}' },
};

describe('cannot be named, and is kept as a dead letter', () => {
  test.each(Object.entries(unkeyed))('%s', async (_, { body }) => {
    const request = shop.request(body, { headers: JSON_TYPE });
    const answer = await shop.deliver(request);
    expect(answer).toMatchObject({ status: 200, outcome: 'unkeyed' });
    const letters = await world.sql(
      'SELECT kind FROM oncehook.webhook_dead_letters WHERE source = $1 AND body = $2',
      ['shop', request.body],
    );
    expect(letters).toEqual([{ kind: 'reception' }]);
  });
});

test('a body that is nested deeper than n8n can copy (some 6,000 levels) is never acknowledged', async () => {
  const answer = await shop.deliver(
    shop.request(withId('bottomless', `"a":${deep(100_000)}`), { headers: JSON_TYPE }),
  );
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await shop.ledger('shop:bottomless')).toBeUndefined();
});

describe('multipart, of which n8n keeps no bytes', () => {
  const body = '--X\r\nContent-Disposition: form-data; name="event_id"\r\n\r\nparts\r\n--X--\r\n';
  const headers = { 'content-type': 'multipart/form-data; boundary=X' };

  test.each(['shop', 'open'])('is rejected and not acknowledged, signed or not: %s', async (name) => {
    const source = world.source(name);
    expect(await source.deliver(source.request(body, { headers }))).toMatchObject({
      status: 401,
      outcome: 'rejected',
    });
  });
});

test('nothing that is sent is evaluated, wherever it stands', async () => {
  const request = shop.request(
    { event_id: EVIL, type: EVIL, data: { id: EVIL }, [EVIL]: EVIL },
    { headers: { ...JSON_TYPE, 'x-note': EVIL, 'user-agent': EVIL } },
  );
  const answer = await deliver(
    `${shop.url}?note=${encodeURIComponent(EVIL)}&${encodeURIComponent(EVIL)}=1`,
    request,
  );
  expect(answer).toMatchObject({ status: 200, outcome: 'new' });
  const key = `shop:${EVIL}`;
  expect(shop.keyOf(answer)).toBe(key);
  const [event] = await world.sql(
    `SELECT idempotency_key, external_id, event_type, object_id, headers->>'x-note' AS note, headers->>'user-agent' AS agent,
       query->>'note' AS asked, payload->>$1 AS field, body
     FROM oncehook.webhook_events WHERE idempotency_key = $2`,
    [EVIL, key],
  );
  expect(event).toEqual({
    ...{ idempotency_key: key, external_id: EVIL, event_type: EVIL, object_id: EVIL },
    ...{ note: EVIL, agent: EVIL, asked: EVIL, field: EVIL, body: request.body },
  });
  await waitFor('the business node to get the same key', async () => (await shop.effects(key)) === 1);
});

describe('n8n itself answers, and the gate never hears of it', () => {
  const own: Record<
    string,
    { status: number; body: string | Buffer; headers: Record<string, string>; method?: string }
  > = {
    'malformed JSON': { status: 422, body: '{"event_id":', headers: JSON_TYPE },
    'malformed XML': { status: 422, body: '<a><b></a>', headers: { 'content-type': 'text/xml' } },
    'an unknown charset': {
      status: 422,
      body: '{}',
      headers: { 'content-type': 'application/json; charset=klingon' },
    },
    brotli: {
      status: 422,
      body: brotliCompressSync('{"event_id":"br"}'),
      headers: { ...JSON_TYPE, 'content-encoding': 'br' },
    },
    'gzip that is none': { status: 500, body: '{}', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } },
    'more than 16 MB': { status: 500, body: Buffer.alloc(17 << 20, ' '), headers: JSON_TYPE },
    'another method': { status: 404, body: '', headers: {}, method: 'PUT' },
  };
  test.each(Object.entries(own))('%s', async (_, { status, body, headers, method = 'POST' }) => {
    const answer = await shop.deliver(shop.request(body, { headers }), { method });
    expect(answer).toMatchObject({ status, outcome: undefined });
  });
});

test('no delivery of this file made an execution fail', async () => {
  const { id } = await shop.stored();
  const failed = (await listExecutions(world.account, id)).filter(({ status }) => status !== 'success');
  expect(failed).toEqual([]);
});
