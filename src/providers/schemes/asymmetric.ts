import { z } from 'zod';
import { checkSigning } from './checks.ts';
import { signing } from './parts.ts';

/** Signatures that the sender's public key checks, over a template of parts of the request. */

/** RSA, PKCS #1 v1.5. */
export const rsaSchema = z
  .strictObject({
    scheme: z.literal('rsa').describe('RSA (PKCS #1 v1.5) over a text that is made of parts of the request.'),
    hash: z.enum(['sha256', 'sha384', 'sha512']).default('sha256').describe('The hash function.'),
    ...signing,
  })
  .superRefine((value, context) => checkSigning('rsa', value, context))
  .describe('RSA; the secret is the public key of the sender.');

/** ECDSA over P-256 with SHA-256. */
export const ecdsaSchema = z
  .strictObject({
    scheme: z
      .literal('ecdsa')
      .describe('ECDSA (P-256, SHA-256) over a text that is made of parts of the request.'),
    format: z
      .enum(['der', 'raw'])
      .default('der')
      .describe('Whether the two numbers of a signature are written in DER, or 32 bytes each.'),
    ...signing,
  })
  .superRefine((value, context) => checkSigning('ecdsa', value, context))
  .describe('ECDSA; the secret is the public key of the sender.');

/** Ed25519. */
export const ed25519Schema = z
  .strictObject({
    scheme: z.literal('ed25519').describe('Ed25519 over a text that is made of parts of the request.'),
    ...signing,
  })
  .superRefine((value, context) => checkSigning('ed25519', value, context))
  .describe('Ed25519; the secret is the public key of the sender.');
