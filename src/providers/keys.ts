import { randomBytes } from 'node:crypto';
import { UserError } from '../errors.ts';
import { type CompiledSignature, isKeyed, isMac } from './compiled.ts';
import { publicKeyBytes, randomPrivateKey } from './key-pair.ts';
import { type SecretRule, secretKey } from './secret-key.ts';

/** How a source's secrets become keys; undefined for a sender that signs nothing. */
export function secretRule(signature: CompiledSignature): SecretRule | undefined {
  if (isMac(signature)) return signature;
  return signature.scheme === 'none' ? undefined : { secret_encoding: 'utf8' };
}

/** The bytes that the ledger stores for a secret's text; of a private key its public half. @throws UserError where it cannot be decoded. */
export function storedKey(signature: CompiledSignature, secret: string): Uint8Array {
  if (isKeyed(signature)) return publicKeyBytes(signature.key_kind, secret);
  if (signature.scheme === 'basic' && !/^[^:]+:./s.test(secret)) {
    throw new UserError({
      message: 'The secret is not a user and a password.',
      expected: 'user:password',
      remedy: 'Set it as it is set at the sender, with a colon between the two.',
    });
  }
  return secretKey(secretRule(signature) ?? { secret_encoding: 'utf8' }, secret);
}

/** A new secret that the source's rule can decode; a private key where a public one checks. */
export function randomSecret(signature: CompiledSignature): string {
  if (isKeyed(signature)) return randomPrivateKey(signature.key_kind);
  const rule = secretRule(signature);
  const bytes = randomBytes(32);
  const text = bytes.toString(rule?.secret_encoding === 'base64' ? 'base64' : 'hex');
  return `${signature.scheme === 'basic' ? 'oncehook:' : (rule?.secret_prefix ?? '')}${text}`;
}
