import { UserError } from '../errors.ts';

/** How a stored secret's text becomes the key. */
export interface SecretRule {
  secret_encoding: 'utf8' | 'hex' | 'base64';
  secret_prefix?: string;
}

const patterns = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  // Padded or not, in either alphabet: senders print both.
  base64: /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$/,
} as const;

/**
 * The bytes of the key that a secret's text stands for.
 * @throws UserError where it is empty or not in the stated encoding; the secret is never part of the message.
 */
export function secretKey(rule: SecretRule, secret: string): Uint8Array {
  const prefix = rule.secret_prefix ?? '';
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const encoding = rule.secret_encoding;
  if (text === '') throw new UserError({ message: 'The secret is empty.', remedy: 'Set it again.' });
  if (encoding !== 'utf8' && !patterns[encoding].test(text)) {
    throw new UserError({
      message: `The secret is not valid ${encoding}.`,
      expected: `a secret in ${encoding}${prefix ? ` after ${prefix}` : ''}`,
      remedy: 'Copy it again from the sender, without quotes and blanks.',
    });
  }
  return Buffer.from(text, encoding);
}
