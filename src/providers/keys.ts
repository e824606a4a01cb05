import { randomBytes } from 'node:crypto';
import { type SecretRule, secretKey } from './secret-key.ts';
import type { CompiledSignature } from './signature.ts';

/** How a source's secrets become keys; undefined for a sender that signs nothing. */
export function secretRule(signature: CompiledSignature): SecretRule | undefined {
  switch (signature.scheme) {
    case 'none':
      return undefined;
    case 'hmac-sha256':
      return signature;
    case 'token':
      return { secret_encoding: 'utf8' };
  }
}

/** The bytes that the ledger stores for a secret's text. @throws UserError where it cannot be decoded. */
export function storedKey(signature: CompiledSignature, secret: string): Uint8Array {
  return secretKey(secretRule(signature) ?? { secret_encoding: 'utf8' }, secret);
}

/** A new secret that the source's rule can decode. */
export function randomSecret(signature: CompiledSignature): string {
  const rule = secretRule(signature);
  const bytes = randomBytes(32);
  const text = bytes.toString(rule?.secret_encoding === 'base64' ? 'base64' : 'hex');
  return `${rule?.secret_prefix ?? ''}${text}`;
}
