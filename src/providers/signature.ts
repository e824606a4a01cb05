import { z } from 'zod';
import { ecdsaSchema, ed25519Schema, rsaSchema } from './schemes/asymmetric.ts';
import { basicSchema } from './schemes/basic.ts';
import { hashSchema } from './schemes/hash.ts';
import { hmacSchema } from './schemes/hmac.ts';
import { jwsSchema, jwtSchema } from './schemes/jws.ts';
import { noneSchema } from './schemes/none.ts';
import { tokenSchema } from './schemes/token.ts';

/** How a sender proves that a request is its own. A further scheme is one more file in `schemes/`, listed here. */
export const signatureSchema = z
  .discriminatedUnion('scheme', [
    noneSchema,
    tokenSchema,
    basicSchema,
    hmacSchema,
    hashSchema,
    rsaSchema,
    ecdsaSchema,
    ed25519Schema,
    jwsSchema,
    jwtSchema,
  ])
  .describe('How the sender proves that a request is its own.');

/** As a provider file writes it. `compileSignature` makes of it what is stored. */
export type Signature = z.infer<typeof signatureSchema>;
