import { z } from 'zod';
import { checkSigning } from './checks.ts';
import { signing } from './parts.ts';

/** A plain hash over a template that holds the secret: older than HMAC and weaker, but what some senders have. */
export const hashSchema = z
  .strictObject({
    scheme: z.literal('hash').describe('A plain hash over a text that holds the secret.'),
    hash: z.enum(['md5', 'sha1', 'sha256', 'sha384', 'sha512']).describe('The hash function.'),
    ...signing,
  })
  .superRefine((value, context) => checkSigning('hash', value, context))
  .describe('A plain hash with the secret inside.');
