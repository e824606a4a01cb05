import { z } from 'zod';

/** HTTP Basic: the secret is `user:password`. It proves who sends, not what was sent. */
export const basicSchema = z
  .strictObject({
    scheme: z.literal('basic').describe('User and password in the header Authorization.'),
  })
  .describe('HTTP Basic; the secret is user:password.');
