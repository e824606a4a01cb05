import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { UserError } from '../errors.ts';
import type { KeyRule } from './compiled.ts';

/** Keys of schemes that sign with a private key and are checked by its public half. */

type Kind = KeyRule['key_kind'];

const names: Record<Kind, string> = { rsa: 'an RSA key', p256: 'a P-256 key', ed25519: 'an Ed25519 key' };

/**
 * The bytes that the ledger stores for a key, as templates/migrations/0008_asymmetric.sql describes them. The text is
 * PEM (a public key, a certificate, or a private key, whose public half is taken), DER in base64, a JWK, or the key's
 * bare bytes in hexadecimal or base64; line breaks may be missing, or be written `\n`.
 * @throws UserError where it is none, or a key of another kind; the text is never part of the message.
 */
export function publicKeyBytes(kind: Kind, text: string): Uint8Array {
  const key = readKey(kind, text);
  const {
    kty,
    crv,
    n = '',
    e = '',
    x = '',
    y = '',
  } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  const bytes = (part: string) => Buffer.from(part, 'base64url');
  if (kind === 'rsa' && kty === 'RSA') {
    const exponent = bytes(e);
    const size = bytes(n).length;
    const number = exponent.length <= 4 ? exponent.readUIntBE(0, exponent.length) : 0;
    if (size < 128 || size > 512 || number < 3 || number > 65_537 || number % 2 === 0)
      throw unusable('an RSA key of 1024 to 4096 bits with an exponent from 3 to 65537');
    return Buffer.concat([Buffer.alloc(4 - exponent.length), exponent, bytes(n)]);
  }
  if (kind === 'p256' && kty === 'EC' && crv === 'P-256') return Buffer.concat([bytes(x), bytes(y)]);
  if (kind === 'ed25519' && kty === 'OKP' && crv === 'Ed25519') return bytes(x);
  throw unusable(names[kind]);
}

/**
 * The private key of a text, to sign with.
 * @throws UserError where it is no key of that kind, or only the public half of one.
 */
export function privateKey(kind: Kind, text: string): KeyObject {
  const key = readKey(kind, text);
  if (key.type !== 'private') {
    throw new UserError({
      message:
        "What is stored for this source is its sender's public key: it checks signatures and makes none.",
      expected: 'a private key of your own, for trials',
      remedy:
        'Sign with --private-key FILE, once the public half of that key is stored beside the real one (oncehook secrets add).',
    });
  }
  publicKeyBytes(kind, text);
  return key;
}

/** A new private key, as one line: PKCS #8 in base64. */
export function randomPrivateKey(kind: Kind): string {
  const options = { format: 'der', type: 'pkcs8' } as const;
  const { privateKey: made } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : kind === 'p256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519');
  return made.export(options).toString('base64');
}

function readKey(kind: Kind, text: string): KeyObject {
  for (const read of [fromPem, fromJwk, (bare: string) => fromBytes(kind, bare)]) {
    try {
      const key = read(text.replaceAll('\\n', '\n').trim());
      if (key) return key;
    } catch {
      // It only looked like one: the next form, or the error below.
    }
  }
  throw unusable(names[kind]);
}

/** What stands between the lines BEGIN and END is what counts; line breaks may have been lost. */
function fromPem(text: string): KeyObject | undefined {
  const [, label, body = ''] = /-----BEGIN ([A-Z ]+)-----([^-]*)-----END \1-----/.exec(text) ?? [];
  const key = Buffer.from(body.replace(/\s/g, ''), 'base64');
  switch (label) {
    case 'CERTIFICATE':
      return new X509Certificate(key).publicKey;
    case 'PUBLIC KEY':
      return createPublicKey({ key, format: 'der', type: 'spki' });
    case 'RSA PUBLIC KEY':
      return createPublicKey({ key, format: 'der', type: 'pkcs1' });
    case 'PRIVATE KEY':
      return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    case 'RSA PRIVATE KEY':
      return createPrivateKey({ key, format: 'der', type: 'pkcs1' });
    case 'EC PRIVATE KEY':
      return createPrivateKey({ key, format: 'der', type: 'sec1' });
    default:
      return undefined;
  }
}

/** A JWK, or an answer that holds one under `key`. */
function fromJwk(text: string): KeyObject | undefined {
  if (!text.startsWith('{')) return undefined;
  const read = JSON.parse(text) as { key?: object; d?: string };
  const jwk = (read.key ?? read) as { d?: string };
  const key = { key: jwk as Record<string, string>, format: 'jwk' } as const;
  return jwk.d === undefined ? createPublicKey(key) : createPrivateKey(key);
}

function fromBytes(kind: Kind, text: string): KeyObject | undefined {
  const bare = text.replace(/\s/g, '');
  const bytes = /^([0-9a-f]{2})+$/i.test(bare)
    ? Buffer.from(bare, 'hex')
    : /^[A-Za-z0-9+/_-]+={0,2}$/.test(bare)
      ? Buffer.from(bare, 'base64')
      : Buffer.alloc(0);
  const base64url = (from: number, to: number) => bytes.subarray(from, to).toString('base64url');
  if (kind === 'ed25519' && bytes.length === 32)
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: base64url(0, 32) }, format: 'jwk' });
  if (kind === 'p256' && bytes.length === 65 && bytes[0] === 4)
    return createPublicKey({
      key: { kty: 'EC', crv: 'P-256', x: base64url(1, 33), y: base64url(33, 65) },
      format: 'jwk',
    });
  const forms = [
    () => createPublicKey({ key: bytes, format: 'der', type: 'spki' }),
    () => createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' }),
    () => new X509Certificate(bytes).publicKey,
  ];
  for (const form of forms) {
    try {
      return form();
    } catch {
      // The next form.
    }
  }
  return undefined;
}

function unusable(expected: string): UserError {
  return new UserError({
    message:
      "The secret of this source must be the sender's public key, and what was given is none that fits.",
    expected: `${expected}: PEM, a certificate, a JWK, or its bytes in base64 or hexadecimal`,
    remedy: 'Copy it again from the sender, with the lines BEGIN and END where it has them.',
  });
}
