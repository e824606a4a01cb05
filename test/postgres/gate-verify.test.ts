import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { stored, verdict } from './harness/gate-signatures.ts';
import { deliver } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const BODY = '{"id":"1"}';
const T = 1_760_000_000;
const hmac = { scheme: 'hmac', hash: 'sha256', header: 'x-sig' };
const stamped = {
  ...hmac,
  pairs: { separator: ',', name: 'v1' },
  signed: '{timestamp}.{body}',
  timestamp: { pair: 't' },
};

async function addSource(id: string, signature: object, secrets?: string[]): Promise<void> {
  await gate.addSource(id, stored(signature), secrets);
}

test('two live secrets; a retired one is none; taken back it is one again', async () => {
  await addSource('two', stamped, ['one', 'two']);
  const by = (secret: string) => gate.sign('two', BODY, { secret, timestamp: T });
  const says = (secret: string) => verdict(gate, 'two', by(secret), BODY, T);
  expect([await says('one'), await says('two'), await says('three')]).toEqual([
    null,
    null,
    'signature wrong',
  ]);
  await gate.retireSecret('two', 'secret 1');
  expect([await says('one'), await says('two')]).toEqual([null, 'signature wrong']);
  await gate.retireSecret('two', 'secret 0');
  expect([await says('one'), await says('x')]).toEqual(['no secret stored', 'no secret stored']);
  await gate.addSecret('two', 'two', 'again');
  expect([await says('one'), await says('two')]).toEqual(['signature wrong', null]);
  await gate.addSource('three', stored(stamped));
  expect(await verdict(gate, 'three', by('two'), BODY, T), "another source's secret").toBe('signature wrong');
});

test('any v1 may match, wherever it stands; other names and the first time count for nothing and everything', async () => {
  await addSource('pairs', stamped);
  const mac = gate.sign('pairs', BODY, { timestamp: T })['x-sig']?.split('v1=')[1] ?? '';
  const bad = '0'.repeat(64);
  const says = (header: unknown) => verdict(gate, 'pairs', { 'x-sig': header }, BODY, T);
  for (const header of [
    `t=${T},v1=${mac}`,
    `t=${T}, v1=${mac}`,
    ` t=${T} ,  v1=${mac} `,
    `v1=${mac},t=${T}`,
    `t=${T},v1=${bad},v1=${mac}`,
    `t=${T},v1=${mac},v1=${bad}`,
    `t=${T},v0=${bad},v1=${mac},v1=`,
    `t=${T},v1=${mac.toUpperCase()}`,
    `,,t=${T},,v1=${mac},,`,
    `t=${T},t=1,v1=${mac}`,
  ])
    expect(await says(header), header).toBeNull();
  for (const header of [
    `t=${T},v0=${mac}`,
    `t=${T},V1=${mac}`,
    `t=${T},v1 =${mac}`,
    `t=${T}`,
    `v1=${mac}`,
    `t=1,t=${T},v1=${mac}`,
    ` t=1,t=${T},v1=${mac}`,
    `t=${T};v1=${mac}`,
    `t=${T},v1=${mac}0`,
    `t=${T},v1=0x${mac}`,
    `t=${T},v1=${mac.slice(0, -1)}`,
    `t=${T},v1=${Buffer.from(mac, 'hex').toString('base64')}`,
    `t=${T},v1="${mac}"`,
    `t=${T},v1==${mac}`,
    `t=${T},v1=${mac.slice(1)}`,
    mac,
    '',
    ' ',
    null,
    [],
    [`t=${T},v1=${mac}`, `t=${T},v1=${mac}`],
    { t: T },
    true,
    1e20,
  ])
    expect(await says(header), JSON.stringify(header)).not.toBeNull();
});

test('a whole header: prefix, case, blanks, base64', async () => {
  await addSource('hex', { ...hmac, prefix: 'sha256=' });
  const hex = gate.sign('hex', BODY)['x-sig']?.slice(7) ?? '';
  await addSource('base64', { ...hmac, encoding: 'base64' });
  const base64 = gate.sign('base64', BODY)['x-sig'] ?? '';
  const cases: [source: string, header: string, accepted: boolean][] = [
    ['hex', `sha256=${hex}`, true],
    ['hex', `sha256=${hex.toUpperCase()}`, true],
    ['hex', `sha256= ${hex} `, true],
    ['hex', hex, false],
    ['hex', `SHA256=${hex}`, false],
    ['hex', `sha1=${hex}`, false],
    ['hex', `sha256=sha256=${hex}`, false],
    ['hex', `sha256=${hex},sha256=${hex}`, false],
    ['hex', `sha256=${Buffer.from(hex, 'hex').toString('base64')}`, false],
    ['hex', 'sha256=', false],
    ['base64', base64, true],
    ['base64', ` ${base64} `, true],
    ['base64', base64.replace('=', ''), false],
    ['base64', base64.toLowerCase(), false],
    ['base64', hex, false],
  ];
  for (const [source, header, accepted] of cases) {
    const reason = await verdict(gate, source, { 'x-sig': header }, BODY, T);
    expect(reason === null, `${header}: ${reason}`).toBe(accepted);
  }
});

test("the secret's encoding: hex, base64 in both alphabets, and a prefix", async () => {
  const key = Buffer.from('fbff00fe', 'hex');
  const cases: [secret_encoding: string, text: string, prefix?: string][] = [
    ['hex', 'FBff00fe'],
    ['base64', '+/8A/g=='],
    ['base64', '-_8A_g'],
    ['base64', 'whsec_+/8A/g==', 'whsec_'],
    ['hex', 'k.fbff00fe', 'k.'],
  ];
  await addSource('raw', hmac, []);
  await gate.owner.query(
    "INSERT INTO oncehook.webhook_secrets (source_id, name, secret) VALUES ('raw', 'x', $1)",
    [key],
  );
  for (const [index, [secret_encoding, text, secret_prefix]] of cases.entries()) {
    const id = `encoding-${index}`;
    await addSource(id, { ...hmac, secret_encoding, ...(secret_prefix && { secret_prefix }) }, [text]);
    const headers = gate.sign(id, BODY, { secret: text });
    expect(await verdict(gate, id, headers, BODY, T)).toBeNull();
    expect(await verdict(gate, 'raw', headers, BODY, T)).toBeNull();
  }
  // Longer than a block of SHA-256: hashed first.
  const long = 'k'.repeat(200);
  await addSource('long', hmac, [long]);
  expect(await verdict(gate, 'long', gate.sign('long', BODY, { secret: long }), BODY, T)).toBeNull();
});

describe('time', () => {
  const sign = (id: string, timestamp = T) => gate.sign(id, BODY, { timestamp });
  test('the bounds of past and future, in seconds and milliseconds', async () => {
    await addSource('past', stamped);
    await addSource('both', { ...stamped, timestamp: { pair: 't', future: 'refuse', tolerance: 60 } });
    await addSource('ms', {
      ...stamped,
      timestamp: { pair: 't', unit: 'ms', tolerance: 60, future: 'refuse' },
    });
    const says = async (id: string, age: number) => verdict(gate, id, sign(id), BODY, T + age);
    for (const [id, age, accepted] of [
      ['past', 0, true],
      ['past', 300, true],
      ['past', 300.001, false],
      ['past', -86_400, true],
      ['both', 60, true],
      ['both', 60.001, false],
      ['both', -60, true],
      ['both', -60.001, false],
      ['ms', 60, true],
      ['ms', 61, false],
      ['ms', -61, false],
    ] as const)
      expect(await says(id, age), `${id} ${age}`).toBe(accepted ? null : 'signature expired');
    // Milliseconds taken for seconds lie far in the future, and are not accepted as such where that is refused.
    expect(await verdict(gate, 'both', sign('both', T * 1000), BODY, T)).toBe('signature expired');
  });

  test("a tolerance of the source's own, in place of the provider's", async () => {
    await gate.addSource('wide', { ...stored(stamped), toleranceSeconds: 5000 });
    expect(await verdict(gate, 'wide', sign('wide'), BODY, T + 5000)).toBeNull();
    expect(await verdict(gate, 'wide', sign('wide'), BODY, T + 5001)).toBe('signature expired');
  });

  test('in a header of its own: signed, needed, a number', async () => {
    await addSource('header', {
      ...hmac,
      prefix: 'v0=',
      signed: 'v0:{timestamp}:{body}',
      timestamp: { header: 'x-time' },
    });
    const good = sign('header');
    expect(await verdict(gate, 'header', good, BODY, T)).toBeNull();
    expect(await verdict(gate, 'header', good, BODY, T + 301)).toBe('signature expired');
    const times = [
      `${T + 1}`,
      '',
      ' ',
      `+${T}`,
      `-${T}`,
      `${T}.0`,
      '1.76e9',
      'now',
      '٣',
      `${T}\n`,
      '9'.repeat(16),
      null,
      [T],
    ];
    for (const time of times)
      expect(
        await verdict(gate, 'header', { ...good, 'x-time': time }, BODY, T),
        String(time),
      ).not.toBeNull();
    expect(await verdict(gate, 'header', { 'x-sig': good['x-sig'] }, BODY, T)).not.toBeNull();
  });
});

test('a signed header that looks like a placeholder is no placeholder', async () => {
  await addSource('injection', {
    ...hmac,
    signed: '{header.x-id}.{timestamp}.{header.x-b}.{body}',
    timestamp: { header: 'x-time' },
  });
  const of = (headers: Record<string, string>) => gate.sign('injection', BODY, { timestamp: T, headers });
  const good = of({ 'x-id': `evt-${T}`, 'x-b': 'b' });
  const says = (headers: Record<string, string>) => verdict(gate, 'injection', headers, BODY, T);
  expect(await says(good)).toBeNull();
  for (const forged of ['evt-{timestamp}', `evt-${T}.${T}`, '{header.x-id}', `evt-{header.x-time}`])
    expect(await says({ ...good, 'x-id': forged }), forged).toBe('signature wrong');
  expect(await says({ ...of({ 'x-id': 'b', 'x-b': 'b' }), 'x-id': '{header.x-b}' })).toBe('signature wrong');
  expect(await says(of({ 'x-id': '{header.x-id}', 'x-b': '{timestamp}' }))).toBeNull();
});

test('token: the secret behind its prefix, and nothing else', async () => {
  await addSource('token', { scheme: 'token', header: 'authorization', prefix: 'Bearer ' }, [
    's3cret',
    'old',
  ]);
  await gate.retireSecret('token', 'secret 1');
  const says = (authorization?: unknown) => verdict(gate, 'token', { authorization }, BODY, T);
  expect(await says('Bearer s3cret')).toBeNull();
  for (const wrong of [
    's3cret',
    'bearer s3cret',
    'Bearer  s3cret',
    'Bearer s3cret ',
    'Bearer s3cre',
    'Bearer old',
    'Bearer ',
    ['Bearer s3cret'],
  ])
    expect(await says(wrong), String(wrong)).toBe('token wrong');
  for (const none of ['', null, undefined]) expect(await says(none)).toBe('token missing');
  await gate.addSecret('token', 'second', 'second');
  expect([await says('Bearer second'), await says('Bearer s3cret')]).toEqual([null, null]);
  await addSource('bare', { scheme: 'token', header: 'x-token' }, []);
  expect(await verdict(gate, 'bare', { 'x-token': 'x' }, BODY, T)).toBe('no secret stored');
});

test('none is accepted as it is; a scheme that is not known is refused', async () => {
  await addSource('none', { scheme: 'none' }, []);
  expect(await verdict(gate, 'none', {}, BODY, T)).toBeNull();
  await gate.addSource('future', { signature: { scheme: 'rsa', signed: [[{ from: 'body' }]] } });
  expect(await verdict(gate, 'future', {}, BODY, T)).not.toBeNull();
  expect(await deliver(gate.n8n, { source: 'future' })).toMatchObject({ outcome: 'rejected', code: 401 });
});
