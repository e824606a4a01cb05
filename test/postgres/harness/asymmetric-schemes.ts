import { randomPrivateKey } from '../../../src/providers/key-pair.ts';
import type { Scheme } from './gate-schemes.ts';

const BODY = '{"id":"e1","n":10,"note":"caf\\u00e9 1.0 \\/ é"}\r\n';
const sig = { header: 'x-sig' };
const time = { header: 'x-time' };
const timed = { header: 'x-sig', signed: '{timestamp}{body}', timestamp: time };
const jws = { scheme: 'jws', header: 'x-sig' };
const jwt = { scheme: 'jwt', header: 'x-sig', body_sha256: 'request_body_sha256' };

export const keys = {
  rsa: randomPrivateKey('rsa'),
  p256: randomPrivateKey('p256'),
  ed25519: randomPrivateKey('ed25519'),
};

/** Every scheme whose secret is a public key, with a private key to sign by. */
export const asymmetricSchemes: Record<string, Scheme & { secret: string; otherKey: keyof typeof keys }> = {
  'rsa, a checksum and a setting': {
    signature: {
      scheme: 'rsa',
      header: 'x-sig',
      encoding: 'base64',
      partial: true,
      signed: '{header.x-id}|{header.x-time}|{setting.webhook_id}|{body|crc32}',
    },
    body: BODY,
    headers: { 'x-id': 'a1b2', 'x-time': '2025-10-09T08:53:20Z' },
    secret: keys.rsa,
    otherKey: 'rsa',
    covered: ['body', sig, time, { header: 'x-id' }],
    free: [{ query: 'q' }],
  },
  'rsa, sha512, in the body': {
    signature: {
      scheme: 'rsa',
      hash: 'sha512',
      body: 'sign',
      encoding: 'base64',
      partial: true,
      signed: '{body.id}:{body.n}',
    },
    body: BODY,
    secret: keys.rsa,
    otherKey: 'rsa',
    covered: [{ path: ['sign'] }, { path: ['id'] }, { path: ['n'] }],
    free: [{ path: ['note'] }],
  },
  'ecdsa in DER': {
    signature: { scheme: 'ecdsa', encoding: 'base64', ...timed },
    body: BODY,
    secret: keys.p256,
    otherKey: 'p256',
    covered: ['body', sig, time],
    free: [{ query: 'q' }],
  },
  'ecdsa, raw': {
    signature: { scheme: 'ecdsa', format: 'raw', ...timed },
    body: BODY,
    secret: keys.p256,
    otherKey: 'p256',
    covered: ['body', sig, time],
  },
  'ed25519 in hexadecimal': {
    signature: { scheme: 'ed25519', ...timed },
    body: BODY,
    secret: keys.ed25519,
    otherKey: 'ed25519',
    covered: ['body', sig, time],
    free: [{ query: 'q' }],
  },
  'ed25519 in a pair': {
    signature: {
      scheme: 'ed25519',
      header: 'x-sig',
      encoding: 'base64',
      pairs: { separator: ' ', name: 'v1a', equals: ',' },
      signed: '{header.x-id}.{timestamp}.{body}',
      timestamp: time,
    },
    body: BODY,
    headers: { 'x-id': 'msg_1' },
    secret: keys.ed25519,
    otherKey: 'ed25519',
    covered: ['body', sig, time, { header: 'x-id' }],
  },
  'a detached JWS, RS256': {
    signature: { ...jws, algorithm: 'RS256' },
    body: BODY,
    secret: keys.rsa,
    otherKey: 'rsa',
    covered: ['body', sig],
    free: [{ query: 'q' }],
  },
  'a detached JWS, EdDSA, after a prefix': {
    signature: { ...jws, algorithm: 'EdDSA', prefix: 'JWS ' },
    body: BODY,
    secret: keys.ed25519,
    otherKey: 'ed25519',
    covered: ['body', sig],
  },
  'a JWT, ES256': {
    signature: { ...jwt, algorithm: 'ES256' },
    body: BODY,
    secret: keys.p256,
    otherKey: 'p256',
    covered: ['body', sig],
    free: [{ query: 'q' }],
  },
};
