import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { privateKey, publicKeyBytes, randomPrivateKey } from '../../../src/providers/key-pair.ts';

/** Self-signed, P-256, made for this test with its key thrown away. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBiDCCAS+gAwIBAgIUIxEp9CfY/dBz9MdYFgpu4WVNeGAwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOc2VuZGVyLmV4YW1wbGUwIBcNMjYxMjAxMDExODI0WhgPMjEy
NjExMDcwMTE4MjRaMBkxFzAVBgNVBAMMDnNlbmRlci5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEmqs2HLJ0mFm16+pQ6k6ZjAxtQ8GZlCcDPeM0Qb+r
O+NF15ztybZSblN43MTbaDNXLPMOpGHSUJhsIJxU42Th+KNTMFEwHQYDVR0OBBYE
FDEUo38ASYkyiORiUMh1SJE761xOMB8GA1UdIwQYMBaAFDEUo38ASYkyiORiUMh1
SJE761xOMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgTh+OuziX
qoK6NGXh3UKz3QaN0scvFIWMIBzjWq5w+pcCIG1F4culvcIKP+2oa3c+kUI6bHB3
qtmoA/IVuhvS3fka
-----END CERTIFICATE-----
`;

const kinds = ['rsa', 'p256', 'ed25519'] as const;
const open = (text: string) =>
  createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe.each(kinds)('a key of the kind %s', (kind) => {
  const text = randomPrivateKey(kind);
  const pair = open(text);
  const open_ = createPublicKey(pair);
  const stored = hex(publicKeyBytes(kind, text));
  const pem = open_.export({ format: 'pem', type: 'spki' }).toString();
  const der = open_.export({ format: 'der', type: 'spki' });

  it('has one form in the ledger, however it was written', () => {
    const jwk = open_.export({ format: 'jwk' });
    for (const [name, written] of Object.entries({
      pem,
      'pem without line breaks': pem.replaceAll('\n', ''),
      'pem with blanks for line breaks': pem.replaceAll('\n', ' '),
      'pem with \\n for line breaks': pem.replaceAll('\n', '\\n'),
      'pem with carriage returns, and text around it': `key:\r\n${pem.replaceAll('\n', '\r\n')}\r\n`,
      base64: der.toString('base64'),
      'base64 in lines': der.toString('base64').replace(/.{20}/g, '$&\n'),
      hexadecimal: der.toString('hex'),
      JWK: JSON.stringify(jwk),
      'JWK in an answer': JSON.stringify({ key: { ...jwk, kid: 'k1', use: 'sig' }, request_id: 'r' }),
      'private JWK': JSON.stringify(pair.export({ format: 'jwk' })),
      'private pem': pair.export({ format: 'pem', type: 'pkcs8' }).toString(),
    }))
      expect(hex(publicKeyBytes(kind, written)), name).toBe(stored);
  });

  it('is refused as a key of another kind, and never told', () => {
    for (const other of kinds) {
      if (other === kind) continue;
      expect(() => publicKeyBytes(other, pem)).toThrow(/public key/);
    }
    for (const none of [
      '',
      'whsec_0123456789',
      '{}',
      '{"kty":"EC"}',
      '-----BEGIN PUBLIC KEY-----',
      'ff'.repeat(33),
      pem.slice(0, 80),
    ])
      expect(() => publicKeyBytes(kind, none), none).toThrow(/public key/);
    try {
      publicKeyBytes(kind, 'not-a-key-but-secret');
    } catch (error) {
      expect(String(error)).not.toContain('not-a-key');
    }
  });

  it('signs only where the private half is there', () => {
    const message = Buffer.from('m');
    const hash = kind === 'ed25519' ? null : 'sha256';
    expect(verify(hash, message, open_, sign(hash, message, privateKey(kind, text)))).toBe(true);
    expect(() => privateKey(kind, pem)).toThrow(/makes none/);
  });
});

it('takes the bare bytes of a point', () => {
  const ed = open(randomPrivateKey('ed25519'));
  const x = Buffer.from(createPublicKey(ed).export({ format: 'jwk' }).x ?? '', 'base64url');
  for (const text of [
    x.toString('hex'),
    x.toString('hex').toUpperCase(),
    x.toString('base64'),
    x.toString('base64url'),
  ])
    expect(hex(publicKeyBytes('ed25519', text))).toBe(x.toString('hex'));
  const point = Buffer.concat([Buffer.from([4]), publicKeyBytes('p256', randomPrivateKey('p256'))]);
  expect(hex(publicKeyBytes('p256', point.toString('hex')))).toBe(hex(point.subarray(1)));
  point[64] = (point[64] ?? 0) ^ 1;
  expect(() => publicKeyBytes('p256', point.toString('hex'))).toThrow();
});

it('takes the key of a certificate', () => {
  expect(publicKeyBytes('p256', CERTIFICATE)).toHaveLength(64);
  expect(() => publicKeyBytes('rsa', CERTIFICATE)).toThrow(/public key/);
});

it('takes RSA keys of the usual sizes alone', () => {
  const made = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent })
      .publicKey.export({ format: 'pem', type: 'pkcs1' })
      .toString();
  expect(hex(publicKeyBytes('rsa', made(1024, 3)).subarray(0, 4))).toBe('00000003');
  expect(publicKeyBytes('rsa', made(2048))).toHaveLength(260);
  expect(() => publicKeyBytes('rsa', made(512))).toThrow();
  expect(() => publicKeyBytes('rsa', made(1024, 65_539))).toThrow();
});

it('refuses a curve that is another', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  expect(() =>
    publicKeyBytes('p256', publicKey.export({ format: 'pem', type: 'spki' }).toString()),
  ).toThrow();
});
