import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { type Answer, type Delivery, deliver, fail, replay } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('open', { signature: { scheme: 'none' }, object: '{body.object}' }, []);
  await gate.addSource('heads', { signature: { scheme: 'none' }, key: '{header.x-id}\n{query.id}' }, []);
  await gate.addSource('signed');
  await gate.addSource('token', { signature: { scheme: 'token', header: 'x-token' } });
});
afterAll(() => gate.database.drop());

const open = (body: Delivery['body'], rest: Delivery = {}): Promise<Answer> =>
  deliver(gate.n8n, { source: 'open', body, ...rest });

const nasty = [
  `'; DROP TABLE oncehook.webhook_events; --`,
  `' || (SELECT 1/0) || '`,
  '$1 $2::text $& $$ $` $$body$$ $0',
  '\\',
  `\\'`,
  `E'\\x00'`,
  '{{ 1+1 }} ={{ $json }} ${1+1}',
  `" ' \` ; , % _ ( ) [ ] { }`,
  '\u2028\u2029\u202e\u200b',
  '😀 é \ufeff',
  'NULL',
  '{NULL,"x"}',
  '%s %I %L %',
];

describe('headers, query and fields', () => {
  test.each(nasty)('%s is what it is, everywhere', async (text) => {
    const sent = { id: text, type: text, object: text, [text]: text };
    const row = await deliver(gate.n8n, {
      source: 'open',
      body: JSON.stringify(sent),
      headers: { 'content-type': text, 'x-real-ip': text, [text.toLowerCase()]: text },
      query: { q: text, [text]: text },
      workflow: text,
      execution: text,
      instance: text,
    });
    expect(row).toMatchObject({
      outcome: 'new',
      key: `open:${text}`,
      type: text,
      object_id: text,
      body: sent,
    });
    expect(row.query).toEqual({ q: text, [text]: text });
    expect(JSON.parse(row.answer)).toMatchObject({ key: `open:${text}` });
    const event = await gate.event(`open:${text}`);
    expect(event).toMatchObject({ execution_id: text, workflow: text, content_type: text, payload: sent });
    await open(JSON.stringify(sent), { headers: { 'x-real-ip': text.repeat(100) } });
    expect(await fail(gate.n8n, 'open', { execution: text, instance: text, error: text })).toMatchObject({
      status: 'failed',
    });
    expect(await gate.event(`open:${text}`)).toMatchObject({ error: text });
    const unknown = await deliver(gate.n8n, { source: text, recipe: text, mode: text });
    expect(unknown).toMatchObject({ outcome: 'unavailable', source: text });
    expect(await replay(gate.n8n, text, text)).toMatchObject({ outcome: 'unavailable' });
  });

  const objects = [
    'null',
    '[]',
    '["authorization"]',
    '"authorization"',
    '12',
    '',
    '{',
    '{"authorization":["x"],"x-signature":{"a":[1]},"x-id":["a"],"content-type":{}}',
    '{"x-token":null,"x-id":true,"x-signature":false}',
    String.raw`{"x-id":"\u0000","x-signature":"\ud800","x-token":"\u0000"}`,
    '{"x-id":1e400000,"x-signature":1e400000}',
    `{"x-id":${'['.repeat(100_000)}}`,
    `{"x-signature":"${'v1='.repeat(100_000)}"}`,
    `{"x-signature":"${'00'.repeat(100_000)}","x-token":"${'t'.repeat(200_000)}"}`,
    `{${Array.from({ length: 20_000 }, (_, i) => `"h${i}":"${i}"`).join(',')}}`,
    `{"x-real-ip":["a"],"x-forwarded-for":",,,"}`,
  ];
  test.each(objects.map((text) => [text.slice(0, 60), text]))('headers and query %s', async (_name, text) => {
    for (const source of ['open', 'heads', 'signed', 'token']) {
      const row = await deliver(gate.n8n, { source, body: `{"n":"${source}"}`, headers: text, query: text });
      const refused = source === 'signed' || source === 'token';
      expect(row.outcome, source).toMatch(refused ? 'rejected' : /unkeyed|new|duplicate/);
      if (refused) expect(row.code).toBe(401);
    }
    expect(
      (await open(`{"id":${JSON.stringify(`${text.slice(0, 60)}.`)}}`, { headers: text, query: text }))
        .outcome,
    ).toBe('new');
  });

  test('ids in headers and query that Postgres cannot hold never make one key', async () => {
    const keys = [];
    for (const id of ['h', 'h\0', 'h\ud800', 'h\ud801', 'h\ufffd', 'h ', 'H']) {
      for (const where of [{ query: { id } }, { headers: { 'x-id': id } }])
        keys.push([id, (await deliver(gate.n8n, { source: 'heads', ...where })).key] as const);
    }
    const byKey = new Map(keys.filter(([, made]) => made).map(([id, made]) => [made, id]));
    for (const [id, made] of keys) if (made) expect(byKey.get(made)).toBe(id);
    expect(byKey.size).toBe(4);
  });

  test('every parameter null, and every parameter a text of 250 kB', async () => {
    const none = { source: null, body: null, headers: null, query: null, recipe: null, mode: null };
    expect(await deliver(gate.n8n, none)).toMatchObject({ outcome: 'unavailable', code: 503 });
    const run = { workflow: null, execution: null, instance: null };
    expect(await deliver(gate.n8n, { ...none, ...run, source: 'open' })).toMatchObject({
      outcome: 'rejected',
    });
    const long = 'x'.repeat(250_000);
    const everything = { source: long, headers: long, query: long, recipe: long, mode: long, workflow: long };
    expect((await deliver(gate.n8n, { ...everything, body: long })).outcome).toBe('unavailable');
    expect((await deliver(gate.n8n, { ...everything, source: 'open', body: long })).outcome).toBe(
      'unavailable',
    );
    expect(await open('{"id":"long"}', { ...everything, source: 'open', recipe: null })).toMatchObject({
      outcome: 'new',
    });
  });

  test('thousands of pairs in a signature', async () => {
    await gate.addSource('pairs', {
      signature: {
        scheme: 'hmac',
        hash: 'sha256',
        header: 'x-signature',
        pairs: { separator: ',', name: 'v1' },
        encoding: 'hex',
        secret_encoding: 'utf8',
        signed: [[{ from: 'timestamp' }, '.', { from: 'body' }]],
        timestamp: { pair: 't', unit: 's', tolerance: 300 },
      },
      toleranceSeconds: 300,
    });
    for (const pair of ['t=1', 'v1=', `v1=${'0'.repeat(64)}`, ',', '=', 'v1'])
      expect(
        await deliver(gate.n8n, {
          source: 'pairs',
          headers: { 'x-signature': Array.from({ length: 3000 }, () => pair).join(',') },
        }),
      ).toMatchObject({ outcome: 'rejected' });
  });
});
