import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate, SECRET } from './harness/gate.ts';
import { stored, verdict } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const T = 1_760_000_000;
const BODY = '{"id":"1"}';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const hmac = { scheme: 'hmac', header: 'x-sig' };

const addSource = (id: string, signature: object, secrets?: string[]) =>
  gate.addSource(id, stored(signature), secrets);

describe('the hash function', () => {
  test('may change: the pads of the secrets change with it', async () => {
    for (const hash of ['sha256', 'sha512', 'sha1', 'sha384', 'sha256'] as const) {
      await addSource('change', { ...hmac, hash }, hash === 'sha256' ? ['x'.repeat(100)] : []);
      const headers = gate.sign('change', BODY, { secret: 'x'.repeat(100) });
      expect(await verdict(gate, 'change', headers, BODY, T), hash).toBeNull();
    }
  });

  test('SHA-1 is refused without pgcrypto, and works wherever it lives', async () => {
    await addSource('sha1', { ...hmac, hash: 'sha1' });
    await addSource('inside', { scheme: 'hash', hash: 'sha1', header: 'x-sig', signed: '{body}{secret}' });
    const says = async () => [
      await verdict(gate, 'sha1', gate.sign('sha1', BODY), BODY, T),
      await verdict(gate, 'inside', gate.sign('inside', BODY), BODY, T),
    ];
    expect(await says()).toEqual([null, null]);
    await gate.owner.query('DROP EXTENSION pgcrypto');
    const reason = 'SHA-1 cannot be computed: the extension pgcrypto is missing';
    expect(await says()).toEqual([reason, reason]);
    await gate.owner.query('CREATE SCHEMA "else where"; CREATE EXTENSION pgcrypto SCHEMA "else where"');
    expect(await says()).toEqual([null, null]);
  });

  test('an unknown one is refused', async () => {
    const { signature } = stored(hmac);
    await gate.addSource('unknown', { signature: { ...signature, hash: 'md4' } });
    expect(await verdict(gate, 'unknown', { 'x-sig': '00' }, BODY, T)).toBe('hash function unknown');
  });
});

test('a plain hash: any live secret, no retired one, none at all', async () => {
  const signature = { scheme: 'hash', hash: 'sha256', header: 'x-sig', signed: '{body}{secret}' };
  await addSource('hash', signature, ['one', 'two']);
  const says = (secret: string) => verdict(gate, 'hash', gate.sign('hash', BODY, { secret }), BODY, T);
  expect([await says('one'), await says('two'), await says('three')]).toEqual([
    null,
    null,
    'signature wrong',
  ]);
  await gate.retireSecret('hash', 'secret 0');
  expect([await says('one'), await says('two')]).toEqual(['signature wrong', null]);
  await gate.retireSecret('hash', 'secret 1');
  expect([await says('one'), await says('two')]).toEqual(['no secret stored', 'no secret stored']);
});

test('basic: user and password, and nothing that only looks like them', async () => {
  await addSource('basic', { scheme: 'basic' }, ['ann:pass word']);
  const says = (authorization?: unknown) => verdict(gate, 'basic', { authorization }, BODY, T);
  const code = Buffer.from('ann:pass word').toString('base64');
  for (const right of [`Basic ${code}`, `basic ${code}`, `BASIC ${code}`])
    expect(await says(right)).toBeNull();
  for (const wrong of [
    code,
    `Basic  ${code}`,
    `Basic ${code}=`,
    `Basic ${code} `,
    'Basic ann:pass word',
    'Basic ',
    'Basic ===',
    [`Basic ${code}`],
  ])
    expect(await says(wrong), `${wrong}`).toBe('password wrong');
  for (const none of ['', null, undefined]) expect(await says(none)).toBe('password missing');
  await addSource('empty', { scheme: 'basic' }, []);
  expect(await verdict(gate, 'empty', { authorization: `Basic ${code}` }, BODY, T)).toBe('no secret stored');
});

describe('a list of which each element is signed', () => {
  const signature = { scheme: 'hmac', each: 'list', item: 'sig', partial: true, signed: '{item.id}' };
  const says = (body: object) => verdict(gate, 'list', {}, JSON.stringify(body), T);

  test('is refused as soon as one is not', async () => {
    await addSource('list', signature);
    const { body } = gate.request('list', '{"list":[{"id":"a"},{"id":"b"}]}');
    const { list } = JSON.parse(Buffer.from(body).toString());
    expect(await says({ list })).toBeNull();
    expect(await says({ list: [list[1], list[0]] })).toBeNull();
    expect(await says({ list: [...list, { id: 'c' }] })).toBe('signature missing');
    expect(await says({ list: [...list, { id: 'c', sig: list[0].sig }] })).toBe('signature wrong');
    for (const other of [
      {},
      { list: [] },
      { list: {} },
      { list: null },
      { list: 'x' },
      [],
      { list: [[]] },
      { list: [null] },
    ])
      expect(await says(other), JSON.stringify(other)).toMatch(
        /nothing that could be signed|signature missing/,
      );
  });
});

describe('a body of which values are signed', () => {
  const fields = { ...hmac, signed: '{fields}', fields: { from: 'form' } };

  test('is read for the signature as the workflow gets to read it', async () => {
    await addSource('form', fields);
    const good = gate.sign('form', 'a=1&b=2', { headers: FORM });
    const says = (body: string, more: object = {}) => verdict(gate, 'form', { ...good, ...more }, body, T);
    for (const body of ['a=1&b=2', 'b=2&a=1', 'a=1&b=2&b=2', '%61=1&b=%32'])
      expect(await says(body), body).toBeNull();
    const json = { 'content-type': 'application/json' };
    for (const body of ['{"a":"1","b":"2"}', '{"a":1,"b":2,"c":{"d":"unsigned"}}', '"a=1&b=2"']) {
      expect(await says(body), body).not.toBeNull();
      expect(await says(body, json), body).not.toBeNull();
    }
    for (const body of ['', 'a=1', 'a=1&b=2&c=', 'a=1&b=2&a=2', 'a=1&b=2%00', 'a=1&b=2&%ff'])
      expect(await says(body), body).not.toBeNull();
    expect(await says('a=1&b=2', json)).not.toBeNull();
    await addSource('json', { ...fields, partial: true, fields: { from: 'json' } });
    const signed = gate.sign('json', '{"a":1,"b":"2"}');
    expect(await verdict(gate, 'json', signed, '{"b":2,"a":"1"}', T)).toBeNull();
    expect(await verdict(gate, 'json', { ...signed, ...FORM }, 'a=1&b=2', T)).not.toBeNull();
    for (const body of ['[1,2]', '12', 'null', '', '{"a":1,"b":"\\u0000"}', '{"a":1,"b":1e400000}'])
      expect(await verdict(gate, 'json', signed, body, T), body).not.toBeNull();
  });

  test('is refused where something stands in for what no text can hold', async () => {
    await addSource('damaged', fields);
    const says = (signed: string, sent: string) =>
      verdict(gate, 'damaged', gate.sign('damaged', signed, { headers: FORM }), sent, T);
    expect([await says('a=%EF%BF%BD', 'a=%EF%BF%BD'), await says('a=%C3%A9', 'a=é')]).toEqual([null, null]);
    for (const [signed, sent] of [
      ['a=%EF%BF%BD', 'a=%00'],
      ['a=%C3%A9', 'a=%E9'],
    ] as const)
      expect(await says(signed, sent), sent).toBe('signed values of the body cannot be read');
    await addSource('mended', { ...hmac, partial: true, signed: '{body.a}' });
    const signed = gate.sign('mended', '{"a":"\ufffd"}');
    expect(await verdict(gate, 'mended', signed, '{"a":"\\ufffd"}', T)).toBeNull();
    for (const sent of [
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      Buffer.from('{"a":"\ufffd","b":"\xff"}', 'latin1'),
    ])
      expect(await verdict(gate, 'mended', signed, sent, T)).toBe('signed values of the body cannot be read');
  });

  test('is refused unread where it has more fields than any sender sends', async () => {
    await addSource('many', fields);
    const says = (count: number) => {
      const body = Array.from({ length: count }, (_, index) => `f${index}=1`).join('&');
      return verdict(gate, 'many', gate.sign('many', body, { headers: FORM }), body, T);
    };
    expect([await says(5000), await says(20_000)]).toEqual([
      null,
      'more fields in the body than can be checked',
    ]);
    const flood = 'a=1&b=%C3%A9&'.repeat(1_000_000);
    const before = performance.now();
    expect(await verdict(gate, 'many', { ...FORM, 'x-sig': '00' }, flood, T)).toMatch(/more fields/);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test('an empty form has no fields, and no value that has to be there', async () => {
    await addSource('bare', fields);
    expect(await verdict(gate, 'bare', gate.sign('bare', '&', { headers: FORM }), '', T)).toBeNull();
    await addSource('value', { ...hmac, partial: true, signed: '{body.a}' });
    const signed = gate.sign('value', '{"a":""}');
    expect(await verdict(gate, 'value', signed, '{"a":""}', T)).toBeNull();
    for (const body of ['{}', '{"a":null}', '{"a":[]}', '{"a":{}}', '[]', ''])
      expect(await verdict(gate, 'value', signed, body, T), body).toBe('signature wrong');
  });

  test('of several templates the first complete one counts, and no other', async () => {
    await addSource('several', { ...hmac, partial: true, signed: ['a{body.a}{body.b}', 'b{body.a}'] });
    const both = gate.sign('several', '{"a":"1","b":"2"}');
    const one = gate.sign('several', '{"a":"1"}');
    const says = (headers: object, body: string) => verdict(gate, 'several', { ...headers }, body, T);
    expect([await says(both, '{"a":"1","b":"2"}'), await says(one, '{"a":"1"}')]).toEqual([null, null]);
    expect([await says(one, '{"a":"1","b":"2"}'), await says(both, '{"a":"1"}')]).toEqual([
      'signature wrong',
      'signature wrong',
    ]);
  });
});

describe('time', () => {
  test('its unit by its size; no limit only where the rule says so', async () => {
    const timed = (rule: object) => ({
      ...hmac,
      signed: '{timestamp}{body}',
      timestamp: { header: 'x-time', ...rule },
    });
    await addSource('s', timed({}));
    await addSource('ms', timed({ unit: 'ms' }));
    await addSource('auto', timed({ unit: 'auto' }));
    await addSource('none', timed({ tolerance: 'none' }));
    await gate.addSource('unset', { ...stored(timed({})), toleranceSeconds: null });
    const says = (id: string, signer: string, age: number) =>
      verdict(gate, id, gate.sign(signer, BODY, { timestamp: T, secret: SECRET }), BODY, T + age);
    for (const signer of ['s', 'ms'])
      expect([await says('auto', signer, 300), await says('auto', signer, 301)]).toEqual([
        null,
        'signature expired',
      ]);
    expect(await says('none', 's', 1e9)).toBeNull();
    expect(await says('unset', 's', 0)).toBe('no tolerance set for the signed time');
  });
  test('is a whole number, even where another one was signed', async () => {
    await addSource('number', { ...hmac, signed: '{timestamp}{body}', timestamp: { header: 'x-time' } });
    for (const time of [
      'now',
      `+${T}`,
      `${T}.5`,
      '1e9',
      'NaN',
      'infinity',
      '-1',
      ' ',
      '9'.repeat(16),
      '\u0661',
    ]) {
      const headers = {
        'x-time': time,
        'x-sig': createHmac('sha256', SECRET)
          .update(time + BODY)
          .digest('hex'),
      };
      expect(await verdict(gate, 'number', headers, BODY, T), time).toBe('signature without a timestamp');
    }
  });
});
