import { z } from 'zod';
import { headerName } from './fields.ts';

export const sample = z
  .strictObject({
    body: z
      .union(
        [z.record(z.string(), z.unknown()), z.array(z.unknown()), z.string()],
        'a mapping, a list or a text',
      )
      .describe('The body: a mapping or a list is sent in the content type, a text as it is.'),
    headers: z
      .record(headerName, z.string())
      .default({})
      .describe('Headers beside content type and signature.'),
    query: z.record(z.string(), z.string()).default({}).describe('Query parameters of the request.'),
    content_type: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'a content type')
      .describe("The content type of this one, where it is not the provider's.")
      .exactOptional(),
    fetched: z
      .record(z.string(), z.unknown())
      .describe('The object that is fetched for this delivery (only with `fetch`).')
      .exactOptional(),
  })
  .describe('A request as the sender makes it.');
