import { z } from 'zod';
import { headerName, headerText } from '../fields.ts';
import type { SignRequest } from '../sign.ts';

/** A fixed secret in a header. It proves who sends, not what was sent. */
export const tokenSchema = z
  .strictObject({
    scheme: z.literal('token').describe('The secret itself stands in a header.'),
    header: headerName.describe('The header that holds the token.'),
    prefix: headerText.describe('Text before the token, e.g. `Bearer ` with its blank.').exactOptional(),
  })
  .describe('A fixed token in a header.');

export type TokenSignature = z.infer<typeof tokenSchema>;

/** The header that carries the secret as it is. */
export function signToken(signature: TokenSignature, { secret }: SignRequest): Record<string, string> {
  return { [signature.header]: `${signature.prefix ?? ''}${secret}` };
}
