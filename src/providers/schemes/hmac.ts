import { z } from 'zod';
import { headerText } from '../fields.ts';
import { checkSigning } from './checks.ts';
import { signing } from './parts.ts';

/** HMAC over a template of parts of the request. */
export const hmacSchema = z
  .strictObject({
    scheme: z.literal('hmac').describe('HMAC over a text that is made of parts of the request.'),
    hash: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).default('sha256').describe('The hash function.'),
    ...signing,
    secret_encoding: z
      .enum(['utf8', 'hex', 'base64'])
      .default('utf8')
      .describe("How the secret's text becomes the key."),
    secret_prefix: headerText
      .describe('Text that is taken off the secret before it is decoded.')
      .exactOptional(),
  })
  .superRefine((value, context) => checkSigning('hmac', value, context))
  .describe('HMAC.');
