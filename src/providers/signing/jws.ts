import { createHash } from 'node:crypto';
import type { CompiledJws } from '../compiled.ts';
import { privateKey } from '../key-pair.ts';
import { keySignature } from './mac.ts';

/**
 * A JSON Web Signature of a body as it stands in its header: without its payload (jws), or with claims (jwt).
 * @throws UserError where the secret holds no private key of the rule's kind.
 */
export function writeJws(
  rule: CompiledJws,
  { secret, body, timestamp }: { secret: string; body: Uint8Array; timestamp: number },
): string {
  const key = privateKey(rule.key_kind, secret);
  const head = segment({ alg: rule.algorithm, typ: rule.scheme === 'jwt' ? 'JWT' : 'JOSE' });
  const claims = {
    [rule.timestamp?.claim ?? 'iat']: Math.floor(timestamp),
    [rule.body_sha256 ?? 'body_sha256']: createHash('sha256').update(body).digest('hex'),
  };
  const payload = rule.scheme === 'jwt' ? segment(claims) : Buffer.from(body).toString('base64url');
  const signature = keySignature(rule, key, Buffer.from(`${head}.${payload}`)).toString('base64url');
  return `${rule.prefix ?? ''}${head}.${rule.scheme === 'jwt' ? payload : ''}.${signature}`;
}

function segment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
