import { z } from 'zod';
import { type HmacSignature, hmacSha256Schema } from './schemes/hmac-sha256.ts';
import { noneSchema } from './schemes/none.ts';
import { type TokenSignature, tokenSchema } from './schemes/token.ts';
import type { SignedParts } from './signed.ts';

/** How a sender proves that a request is its own. A further scheme is one more file in `schemes/`, listed here. */
export const signatureSchema = z
  .discriminatedUnion('scheme', [noneSchema, hmacSha256Schema, tokenSchema])
  .describe('How the sender proves that a request is its own.');

/** As a provider file writes it: `signed` is a template. */
export type Signature = z.infer<typeof signatureSchema>;

/** As `webhook_sources` stores it: `signed` is a list of parts. */
export type CompiledSignature =
  | { scheme: 'none' }
  | TokenSignature
  | (Omit<HmacSignature, 'signed'> & { signed: SignedParts });
