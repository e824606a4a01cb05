import { z } from 'zod';

/** What JavaScript and Postgres read alike. */
function isPlainPattern(pattern: string): boolean {
  try {
    new RegExp(pattern);
  } catch {
    return false;
  }
  return pattern !== '' && !/\(\?|\\[1-9bBAZmMyYp]/.test(pattern);
}

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
      .regex(
        /^https:\/\/[^\s/{}]+\/([^\s{}"'`\\]|\{(body|query|header|setting)(\.([^\s."{}]+|"[^"{}]+"))+\})*$/,
        'an https address of which the host is fixed, with placeholders such as {body.id}',
      )
      .refine((url) => /\{(body|query|header)\./.test(url), 'at least one value of the request in it')
      .describe(
        'The address of the object; {body.path}, {query.name}, {header.name} and {setting.name} stand for single values.',
      ),
    ids: z
      .string()
      .max(200)
      .refine(
        isPlainPattern,
        'a regular expression without groups that begin with (? and without back references',
      )
      .default('[A-Za-z0-9_-]{1,100}')
      .describe('What a value in the address may be: a regular expression for the whole of it.'),
    credential: z
      .enum(['httpHeaderAuth', 'httpBasicAuth'])
      .describe("The kind of n8n's credential that the call needs."),
    credential_hint: z.string().max(300).describe('What goes into that credential, in words.'),
  })
  .describe('How the object that a delivery tells of is fetched.');
