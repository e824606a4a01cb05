import { z } from 'zod';
import type { KeyRule } from '../compiled.ts';
import { headerName, headerText } from '../fields.ts';

/** JSON Web Signatures. The algorithm is pinned here: what a token says of itself decides nothing. */

/** The algorithms by their names in a token, and how each is checked. */
export const jwsAlgorithms = {
  RS256: { key_kind: 'rsa', hash: 'sha256' },
  RS384: { key_kind: 'rsa', hash: 'sha384' },
  RS512: { key_kind: 'rsa', hash: 'sha512' },
  ES256: { key_kind: 'p256', format: 'raw' },
  EdDSA: { key_kind: 'ed25519' },
} as const satisfies Record<string, KeyRule>;

const names = Object.keys(jwsAlgorithms) as (keyof typeof jwsAlgorithms)[];

const token = {
  header: headerName.describe('The header that holds it.'),
  prefix: headerText.describe('Text before it, e.g. `Bearer ` with its blank.').exactOptional(),
  algorithm: z.enum(names).describe('The one algorithm that is accepted.'),
};

/** A detached one: header and signature, with the body in between left out. */
export const jwsSchema = z
  .strictObject({
    scheme: z.literal('jws').describe('A detached JSON Web Signature of the body: `header..signature`.'),
    ...token,
  })
  .describe('A detached JWS; the secret is the public key of the sender.');

/** A token with a claim that holds the hash of the body. */
export const jwtSchema = z
  .strictObject({
    scheme: z.literal('jwt').describe("A JSON Web Token, of which a claim holds the body's SHA-256."),
    ...token,
    body_sha256: z
      .string()
      .min(1)
      .max(100)
      .describe("The claim that holds the body's SHA-256 in hexadecimal."),
    timestamp: z
      .strictObject({
        claim: z.string().min(1).max(100).default('iat').describe('The claim of the time of issue.'),
        tolerance: z.int().min(1).max(604_800).default(300).describe('How old a token may be, in seconds.'),
        future: z
          .enum(['accept', 'refuse'])
          .default('refuse')
          .describe('Whether a time further in the future than the tolerance is accepted.'),
      })
      .prefault({})
      .describe('How old a token may be.'),
  })
  .describe('A JWT that covers the body; the secret is the public key of the sender.');
