import { createHash, createHmac, type KeyObject, sign } from 'node:crypto';
import type { CompiledMac, KeyRule } from '../compiled.ts';

/** An HMAC, or a plain hash, of a message. */
export function macOf({ scheme, hash }: CompiledMac, key: Uint8Array, message: Uint8Array): Buffer {
  return (scheme === 'hmac' ? createHmac(hash, key) : createHash(hash)).update(message).digest();
}

/** A private key's signature of a message. */
export function keySignature(
  { key_kind, hash, format }: KeyRule,
  key: KeyObject,
  message: Uint8Array,
): Buffer {
  if (key_kind === 'ed25519') return sign(null, message, key);
  return sign(hash ?? 'sha256', message, { key, dsaEncoding: format === 'der' ? 'der' : 'ieee-p1363' });
}
