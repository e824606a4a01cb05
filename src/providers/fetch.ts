import { z } from 'zod';

/**
 * For senders whose requests say only that something changed: the delivery is stored and acknowledged, the object is
 * fetched, and the event is claimed under the key of what was fetched. `key`, `type`, `object` and `volatile` of such
 * a provider look into the fetched object as their body.
 */
export const fetchSchema = z
  .strictObject({
    url: z
      .string()
      .max(1000)
      .regex(/^https:\/\/[^\s/{}]+\/\S*$/, 'an https address of which the host is fixed')
      .describe(
        'The address of the object; {body.path}, {query.name}, {header.name} and {setting.name} stand for single values.',
      ),
    ids: z
      .string()
      .max(200)
      .default('[A-Za-z0-9_-]{1,100}')
      .describe('What a value in the address may be: a regular expression for the whole of it.'),
    credential: z
      .enum(['httpHeaderAuth', 'httpBasicAuth'])
      .describe("The kind of n8n's credential that the call needs."),
    credential_hint: z.string().max(300).describe('What goes into that credential, in words.'),
  })
  .describe('How the object that a delivery tells of is fetched.');
