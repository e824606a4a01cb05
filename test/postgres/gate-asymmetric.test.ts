import { createPrivateKey, createPublicKey, sign as cryptoSign, generateKeyPairSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CompiledSignature } from '../../src/providers/compiled.ts';
import { randomPrivateKey } from '../../src/providers/key-pair.ts';
import { sign } from '../../src/providers/sign.ts';
import { keys } from './harness/asymmetric-schemes.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { stored, verdict } from './harness/gate-signatures.ts';
import { type KeyCheck, keysHold, storable } from './harness/public-keys.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const T = 1_760_000_000;
const BODY = '{"id":"e1","é":1}\r\n';
const message = Buffer.from(BODY);
const holds = async (check: Omit<KeyCheck, 'message'> & { message?: Uint8Array }) =>
  (await keysHold(gate, [{ message, ...check }]))[0];
const keyOf = (kind: KeyCheck['rule']['key_kind'], pem: string) => {
  const key = storable(kind, pem);
  if (!key) throw new Error('a key of the test cannot be stored');
  return key;
};
const pem = (key: ReturnType<typeof createPublicKey>) =>
  key.export({ format: 'pem', type: 'spki' }).toString();

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const bytes = (n: bigint, size = 32) => Buffer.from(n.toString(16).padStart(2 * size, '0'), 'hex');
const number = (b: Uint8Array) => BigInt(`0x${Buffer.from(b).toString('hex')}`);
const reversed = (n: bigint) => bytes(n).reverse();

describe('RSA', () => {
  test.each([
    [1024, 65_537],
    [1536, 3],
    [2048, 65_537],
    [2049, 17],
    [3072, 65_537],
    [4096, 65_537],
  ])('%i bits, exponent %i: each hash, and no other one', async (modulusLength, publicExponent) => {
    const pair = generateKeyPairSync('rsa', { modulusLength, publicExponent });
    const key = keyOf('rsa', pem(pair.publicKey));
    for (const hash of ['sha256', 'sha384', 'sha512']) {
      const mac = cryptoSign(hash, message, pair.privateKey);
      const rule = { key_kind: 'rsa', hash } as const;
      expect(await holds({ rule, key, mac })).toBe(true);
      expect(
        await holds({ rule: { ...rule, hash: hash === 'sha256' ? 'sha512' : 'sha256' }, key, mac }),
      ).toBe(false);
      expect(await holds({ rule, key, mac, message: Buffer.from('another') })).toBe(false);
    }
  });

  test('numbers out of range, lengths, and keys that are none', async () => {
    const pair = createPrivateKey({ key: Buffer.from(keys.rsa, 'base64'), format: 'der', type: 'pkcs8' });
    const key = keyOf('rsa', keys.rsa);
    const mac = cryptoSign('sha256', message, pair);
    const modulus = number(key.subarray(4));
    const rule = { key_kind: 'rsa', hash: 'sha256' } as const;
    const one = Buffer.concat([Buffer.from('00000001', 'hex'), key.subarray(4)]);
    for (const [name, check] of Object.entries({
      'one byte more': { key, mac: Buffer.concat([Buffer.alloc(1), mac]) },
      'one byte less': { key, mac: mac.subarray(1) },
      nothing: { key, mac: Buffer.alloc(0) },
      zero: { key, mac: Buffer.alloc(256) },
      'exponent 1': { key: one, mac },
      'exponent 0': { key: Buffer.concat([Buffer.alloc(4), key.subarray(4)]), mac },
      'an even exponent': { key: Buffer.concat([Buffer.from('00010000', 'hex'), key.subarray(4)]), mac },
      'a huge exponent': { key: Buffer.concat([Buffer.from('ffffffff', 'hex'), key.subarray(4)]), mac },
      'a modulus of 0': { key: Buffer.concat([key.subarray(0, 4), Buffer.alloc(256)]), mac },
      'a short key': { key: key.subarray(0, 100), mac: mac.subarray(0, 96) },
      'no key': { key: Buffer.alloc(0), mac },
      'a key of another kind': { key: keyOf('ed25519', keys.ed25519), mac },
    }))
      expect(await holds({ rule, ...check }), name).toBe(false);
    expect(await holds({ rule: { key_kind: 'rsa', hash: 'sha1' }, key, mac })).toBe(false);
    // The same number modulo the modulus, where one that small is signed.
    const small = Array.from({ length: 10_000 }, (_, index) => Buffer.from(`${index}`)).find(
      (text) => number(cryptoSign('sha256', text, pair)) + modulus < 2n ** 2048n,
    );
    if (!small) throw new Error('a modulus that leaves no room');
    const plus = bytes(number(cryptoSign('sha256', small, pair)) + modulus, 256);
    expect(await holds({ rule, key, mac: plus, message: small })).toBe(false);
    // With exponent 1 the padded text itself would be its own signature.
    const padded = Buffer.concat([
      Buffer.from(`0001${'ff'.repeat(202)}00`, 'hex'),
      Buffer.from('3031300d060960864801650304020105000420', 'hex'),
      (await import('node:crypto')).createHash('sha256').update(message).digest(),
    ]);
    expect(await holds({ rule, key: one, mac: padded })).toBe(false);
  });
});

describe('ECDSA', () => {
  const pair = createPrivateKey({ key: Buffer.from(keys.p256, 'base64'), format: 'der', type: 'pkcs8' });
  const key = storable('p256', keys.p256) as Uint8Array;
  const raw = { key_kind: 'p256', format: 'raw' } as const;
  const der = { key_kind: 'p256', format: 'der' } as const;

  test('either form is accepted as itself alone', async () => {
    for (let i = 0; i < 10; i++) {
      const inDer = cryptoSign('sha256', message, pair);
      const inRaw = cryptoSign('sha256', message, { key: pair, dsaEncoding: 'ieee-p1363' });
      expect(await holds({ rule: der, key, mac: inDer })).toBe(true);
      expect(await holds({ rule: raw, key, mac: inRaw })).toBe(true);
      expect(await holds({ rule: raw, key, mac: inDer })).toBe(false);
      expect(await holds({ rule: der, key, mac: inRaw })).toBe(false);
    }
  });

  test('numbers out of range, points that are on no curve, and DER that could be written otherwise', async () => {
    const mac = cryptoSign('sha256', message, { key: pair, dsaEncoding: 'ieee-p1363' });
    const [r, s] = [number(mac.subarray(0, 32)), number(mac.subarray(32))];
    const two = (a: bigint, b: bigint) => Buffer.concat([bytes(a), bytes(b)]);
    const off = Buffer.from(key);
    off[63] = (off[63] ?? 0) ^ 1;
    for (const [name, check] of Object.entries({
      'r = 0': { key, mac: two(0n, s) },
      's = 0': { key, mac: two(r, 0n) },
      'r = n': { key, mac: two(N, s) },
      's = n': { key, mac: two(r, N) },
      zeros: { key, mac: Buffer.alloc(64) },
      swapped: { key, mac: two(s, r) },
      short: { key, mac: mac.subarray(0, 63) },
      'a point that is on no curve': { key: off, mac },
      'the point 0, 0': { key: Buffer.alloc(64), mac },
      'a short key': { key: key.subarray(0, 63), mac },
    }))
      expect(await holds({ rule: raw, ...check }), name).toBe(false);
    // The other signature of the pair holds too: no identity may be made of a signature.
    expect(await holds({ rule: raw, key, mac: two(r, N - s) })).toBe(true);
    const good = cryptoSign('sha256', message, pair);
    const body = good.subarray(2);
    const seq = (inner: Uint8Array) => Buffer.concat([Buffer.from([0x30, inner.length]), inner]);
    const int = (b: Uint8Array) => Buffer.concat([Buffer.from([2, b.length]), b]);
    const minimal = (n: bigint) => {
      const b = bytes(n);
      const from = b.findIndex((byte) => byte !== 0);
      const cut = b.subarray(from);
      return (cut[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), cut]) : cut;
    };
    const zero = (n: bigint) => Buffer.concat([Buffer.alloc(1), minimal(n)]);
    expect(await holds({ rule: der, key, mac: seq(Buffer.concat([int(minimal(r)), int(minimal(s))])) })).toBe(
      true,
    );
    for (const [name, bad] of Object.entries({
      'a zero too many': seq(Buffer.concat([int(zero(r)), int(minimal(s))])),
      'more at the end': Buffer.concat([good, Buffer.alloc(1)]),
      'more in the sequence': seq(Buffer.concat([body, Buffer.from([5, 0])])),
      'a long length': Buffer.concat([Buffer.from([0x30, 0x81, body.length]), body]),
      'an empty number': seq(Buffer.concat([int(Buffer.alloc(0)), int(minimal(s))])),
      'one number': seq(int(minimal(r))),
      'a negative number': seq(Buffer.concat([int(minimal(r)), int(Buffer.from([0xff]))])),
      'lengths that lie': Buffer.from([0x30, 6, 2, 200, 1, 2, 1, 1]),
      nothing: Buffer.alloc(0),
      'only a head': Buffer.from([0x30, 0]),
      'eight zeros': Buffer.alloc(8),
    }))
      expect(await holds({ rule: der, key, mac: bad }), name).toBe(false);
  });

  test('a key that is the base point, or its negative', async () => {
    // The private keys 1 and n - 1: the two points of the table are one, or cancel out.
    for (const d of [1n, N - 1n]) {
      const jwk = generatorJwk(d);
      const own = createPrivateKey({ key: jwk, format: 'jwk' });
      const own_key = keyOf('p256', JSON.stringify(jwk));
      for (let i = 0; i < 5; i++) {
        const mac = cryptoSign('sha256', message, { key: own, dsaEncoding: 'ieee-p1363' });
        expect(await holds({ rule: raw, key: own_key, mac })).toBe(true);
        expect(await holds({ rule: raw, key: own_key, mac, message: Buffer.from('x') })).toBe(false);
      }
    }
  });
});

function generatorJwk(d: bigint) {
  const x = bytes(0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n);
  const gy = 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n;
  const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
  const y = bytes(d === 1n ? gy : p - gy);
  const url = (b: Buffer) => b.toString('base64url');
  return { kty: 'EC', crv: 'P-256', x: url(x), y: url(y), d: url(bytes(d)) };
}

describe('Ed25519', () => {
  const rule = { key_kind: 'ed25519' } as const;
  test('what Node signs, of any length', async () => {
    for (const size of [0, 1, 63, 64, 111, 112, 1000]) {
      const pair = generateKeyPairSync('ed25519');
      const text = Buffer.alloc(size, 0xe9);
      const mac = cryptoSign(null, text, pair.privateKey);
      const key = keyOf('ed25519', pem(pair.publicKey));
      expect(await holds({ rule, key, mac, message: text }), `${size}`).toBe(true);
      expect(await holds({ rule, key, mac, message: Buffer.concat([text, Buffer.alloc(1)]) })).toBe(false);
    }
  });

  test('numbers that are not written as they should be, and points that are none', async () => {
    const pair = createPrivateKey({ key: Buffer.from(keys.ed25519, 'base64'), format: 'der', type: 'pkcs8' });
    const key = keyOf('ed25519', keys.ed25519);
    const mac = cryptoSign(null, message, pair);
    const s = number(Buffer.from(mac.subarray(32)).reverse());
    const plusOrder = Buffer.concat([mac.subarray(0, 32), reversed(s + L)]);
    for (const [name, check] of Object.entries({
      'S plus the order': { key, mac: plusOrder },
      short: { key, mac: mac.subarray(0, 63) },
      zeros: { key, mac: Buffer.alloc(64) },
      'no point (y = 2)': { key: reversed(2n), mac },
      'y = p': { key: reversed(P), mac },
      'y above p': { key: reversed(P + 1n), mac },
      'a short key': { key: key.subarray(1), mac },
    }))
      expect(await holds({ rule, ...check }), name).toBe(false);
  });

  test('keys of low order, under which anyone can sign', async () => {
    const small = [
      '0100000000000000000000000000000000000000000000000000000000000000',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      '0000000000000000000000000000000000000000000000000000000000000000',
      '0000000000000000000000000000000000000000000000000000000000000080',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    ].map((hex) => Buffer.from(hex, 'hex'));
    const identity = Buffer.concat([small[0] as Buffer, Buffer.alloc(32)]);
    // R the identity and S = 0 hold for the key "identity" and every message.
    for (const key of small)
      for (const R of small)
        expect(await holds({ rule, key, mac: Buffer.concat([R, Buffer.alloc(32)]) })).toBe(false);
    expect(await holds({ rule, key: small[0] as Buffer, mac: identity })).toBe(false);
  });
});

describe('a source with a public key', () => {
  const ed = {
    scheme: 'ed25519',
    header: 'x-sig',
    signed: '{timestamp}{body}',
    timestamp: { header: 'x-time' },
  };
  const add = (id: string, signature: object, secrets: string[]) =>
    gate.addSource(id, stored(signature), secrets);

  test('takes several live keys, and stops at one that was retired', async () => {
    const other = randomPrivateKey('ed25519');
    await add('rotated', ed, [keys.ed25519, other]);
    const says = (secret: string) =>
      verdict(gate, 'rotated', gate.sign('rotated', BODY, { secret, timestamp: T }), BODY, T);
    expect([await says(keys.ed25519), await says(other)]).toEqual([null, null]);
    await gate.retireSecret('rotated', 'secret 0');
    expect([await says(keys.ed25519), await says(other)]).toEqual(['signature wrong', null]);
    await gate.retireSecret('rotated', 'secret 1');
    expect(await says(other)).toBe('no secret stored');
  });

  test('refuses what is old, and what has no right time', async () => {
    await add('timed', ed, [keys.ed25519]);
    const headers = gate.sign('timed', BODY, { secret: keys.ed25519, timestamp: T });
    const says = (more: object, at = T) => verdict(gate, 'timed', { ...headers, ...more }, BODY, at);
    expect(await says({}, T + 300)).toBeNull();
    expect(await says({}, T + 301)).toBe('signature expired');
    expect(await says({ 'x-time': `${T + 1}` })).toBe('signature wrong');
    for (const time of ['', 'x', undefined, ['1']])
      expect(await says({ 'x-time': time })).toBe('signature without a timestamp');
  });

  test('malformed signatures of every kind are refused, and raise nothing', async () => {
    await add('malformed', ed, [keys.ed25519]);
    await add('malformed-der', { ...ed, scheme: 'ecdsa', encoding: 'base64' }, [keys.p256]);
    await add('malformed-rsa', { ...ed, scheme: 'rsa', encoding: 'base64url' }, [keys.rsa]);
    await add('malformed-jws', { scheme: 'jws', header: 'x-sig', algorithm: 'RS256' }, [keys.rsa]);
    await add('malformed-jwt', { scheme: 'jwt', header: 'x-sig', algorithm: 'ES256', body_sha256: 'h' }, [
      keys.p256,
    ]);
    const wrong = [
      '0',
      'zz'.repeat(64),
      '\u0661'.repeat(128),
      '00'.repeat(64),
      'ff'.repeat(65_000),
      '=',
      '====',
      '.',
      '..',
      '...',
      'a.b.c',
      '.'.repeat(100_000),
      'e30..e30',
      'e30.e30.e30',
      'bnVsbA..bnVsbA',
      'MIIB',
      'A',
      '\\x00',
      ['a', 'b'],
      { a: 1 },
      17,
    ];
    for (const id of ['malformed', 'malformed-der', 'malformed-rsa', 'malformed-jws', 'malformed-jwt']) {
      for (const value of wrong)
        expect(
          await verdict(gate, id, { 'x-sig': value, 'x-time': `${T}` }, BODY, T),
          `${id} ${JSON.stringify(value).slice(0, 40)}`,
        ).toMatch(/^signature (wrong|missing)/);
      for (const none of ['', null, undefined])
        expect(await verdict(gate, id, { 'x-sig': none, 'x-time': `${T}` }, BODY, T)).toBe(
          'signature missing',
        );
    }
  });
});

describe('a JSON Web Signature', () => {
  const url = (value: object | string) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const rsa = createPrivateKey({ key: Buffer.from(keys.rsa, 'base64'), format: 'der', type: 'pkcs8' });
  const p256 = createPrivateKey({ key: Buffer.from(keys.p256, 'base64'), format: 'der', type: 'pkcs8' });
  const detached = (head: object, body = BODY) => {
    const message = Buffer.from(`${url(head)}.${url(body)}`);
    return `${url(head)}..${cryptoSign('sha256', message, rsa).toString('base64url')}`;
  };

  test('detached: the algorithm is the one that is pinned, and nothing critical is passed over', async () => {
    await gate.addSource('jws', stored({ scheme: 'jws', header: 'x-jws', algorithm: 'RS256' }), [keys.rsa]);
    const says = (token: string) => verdict(gate, 'jws', { 'x-jws': token }, BODY, T);
    const head = { alg: 'RS256', x5u: 'https://sender.example/cert.pem' };
    const good = detached(head);
    expect(await says(good)).toBeNull();
    const [first, , last] = good.split('.');
    for (const [name, token] of Object.entries({
      'alg none': detached({ alg: 'none' }),
      'alg HS256': detached({ alg: 'HS256' }),
      'alg RS512': detached({ alg: 'RS512' }),
      'no alg': detached({}),
      'a list as head': detached([]),
      'a critical header': detached({ ...head, crit: ['b64'], b64: false }),
      'an unencoded payload': detached({ ...head, b64: false }),
      'with its payload': `${first}.${url(BODY)}.${last}`,
      'another body': detached(head, 'x'),
      'padded head': `${first}=..${last}`,
      'without signature': `${first}..`,
      'two parts': `${first}.${last}`,
      'four parts': `${good}.x`,
    }))
      expect(await says(token), name).toBe('signature wrong');
    // The secret of a public-key source is public: HMAC under it proves nothing.
    const { createHmac } = await import('node:crypto');
    const forged = `${url({ alg: 'HS256' })}.${url(BODY)}`;
    const mac = createHmac('sha256', pem(createPublicKey(rsa)))
      .update(forged)
      .digest('base64url');
    expect(await says(`${url({ alg: 'HS256' })}..${mac}`)).toBe('signature wrong');
  });

  test('a token covers the body by its claim, and is young', async () => {
    const rule = { scheme: 'jwt', header: 'x-jwt', algorithm: 'ES256', body_sha256: 'h' };
    const row = stored(rule);
    await gate.addSource('jwt', row, [keys.p256]);
    const says = (token: string, at = T) => verdict(gate, 'jwt', { 'x-jwt': token }, BODY, at);
    const token = (claims: object, head: object = { alg: 'ES256' }) => {
      const text = `${url(head)}.${url(claims)}`;
      const mac = cryptoSign('sha256', Buffer.from(text), { key: p256, dsaEncoding: 'ieee-p1363' });
      return `${text}.${mac.toString('base64url')}`;
    };
    const { createHash } = await import('node:crypto');
    const h = createHash('sha256').update(BODY).digest('hex');
    expect(await says(token({ h, iat: T }))).toBeNull();
    expect(await says(token({ h, iat: T }), T + 300)).toBeNull();
    expect(await says(token({ h, iat: T }), T + 301)).toBe('signature expired');
    expect(await says(token({ h, iat: T + 301 }))).toBe('signature expired');
    for (const iat of [undefined, null, `${T}`, [T]])
      expect(await says(token({ h, iat }))).toBe('signature without a timestamp');
    for (const claim of [undefined, null, '', h.toUpperCase(), [h], { h }])
      expect(await says(token({ h: claim, iat: T }))).toBe('signature wrong');
    expect(await says(token({ h, iat: T }, { alg: 'none' }))).toBe('signature wrong');
    const signed = sign({
      ...{ signature: row.signature as CompiledSignature, secret: keys.p256, body: message, headers: {} },
      timestamp: T,
    });
    expect(await says(signed.headers['x-jwt'] ?? '')).toBeNull();
  });
});

test('the checksum is the usual one, and not taken of what is too large', async () => {
  for (const text of ['', 'a', '123456789', BODY, 'é'.repeat(1000)]) {
    const { crc } = await gate.row<{ crc: string }>('SELECT oncehook.crc32_of($1::bytea)::text AS crc', [
      Buffer.from(text),
    ]);
    expect(crc).toBe(`${crc32(text)}`);
  }
  const { crc } = await gate.row('SELECT oncehook.crc32_of($1::bytea) AS crc', [Buffer.alloc(262_145)]);
  expect(crc).toBeNull();
});
