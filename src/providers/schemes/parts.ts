import { z } from 'zod';
import { headerName, headerText } from '../fields.ts';

/** The parts that schemes are composed of. */

/** A path into a body: `data.id`, `"a.b".0`. */
export const bodyPath = z
  .string()
  .regex(/^([^\s."{}]+|"[^"{}]+")(\.([^\s."{}]+|"[^"{}]+"))*$/, 'a path into the body such as data.token');

const parameter = z.string().regex(/^[^\s&=#]{1,100}$/, 'a name of a query parameter such as token');

/** Where the signature or the token stands: exactly one of these. */
export const place = {
  header: headerName.describe('The header that holds it.').exactOptional(),
  query: parameter.describe('The query parameter that holds it.').exactOptional(),
  body: bodyPath.describe('The path in the body where it stands.').exactOptional(),
  item: bodyPath.describe('Where it stands in each element of the list `each`.').exactOptional(),
  each: bodyPath
    .describe('The path of a list in the body, of which every element is checked by itself.')
    .exactOptional(),
};

export const pairs = z
  .strictObject({
    separator: headerText.describe('What stands between two pairs, e.g. a comma.'),
    name: headerText.describe('The name of the pairs that hold a signature; any one of them may match.'),
    equals: headerText
      .describe('What stands between a name and its value; an equals sign where left out.')
      .exactOptional(),
  })
  .describe('The header holds pairs of name and value; without this the whole header is the value.');

export const timestamp = z
  .strictObject({
    pair: headerText
      .describe('The name of the pair that holds the time (only with `pairs`).')
      .exactOptional(),
    header: headerName.describe('The header that holds the time.').exactOptional(),
    query: parameter.describe('The query parameter that holds the time.').exactOptional(),
    body: bodyPath.describe('The path in the body where the time stands.').exactOptional(),
    unit: z
      .enum(['s', 'ms', 'auto'])
      .default('s')
      .describe('The unit of the time since 1970; `auto` tells seconds from milliseconds by their size.'),
    tolerance: z
      .union([z.int().min(1).max(604_800), z.literal('none')], 'seconds from 1 to 604800, or the word none')
      .default(300)
      .describe('How old a request may be, in seconds; `none` where the sender sets no limit.'),
    future: z
      .enum(['accept', 'refuse'])
      .default('accept')
      .describe('Whether a time further in the future than the tolerance is accepted.'),
  })
  .refine((rule) => [rule.pair, rule.header, rule.query, rule.body].filter(Boolean).length === 1, {
    error: 'exactly one of `pair`, `header`, `query` and `body`',
  })
  .describe('Where the time of the request stands and how old it may be.');

export const fields = z
  .strictObject({
    from: z.enum(['form', 'json']).describe('A form, or the strings, numbers and booleans of a JSON object.'),
    write: z
      .string()
      .max(100)
      .regex(
        /^[^{}]*(\{name\}[^{}]*)?\{value\}[^{}]*$/,
        '{value}, with {name} before it where names are signed',
      )
      .default('{name}{value}')
      .describe('How one field is written.'),
    between: z.string().max(20).default('').describe('What stands between two fields.'),
    begin: z.string().max(100).default('').describe('Only fields whose names begin like this.'),
    except: z.array(z.string().min(1).max(100)).default([]).describe('Fields that are not signed.'),
    secret_as: z
      .string()
      .min(1)
      .max(100)
      .describe('The name under which the secret takes its place among the fields (scheme `hash`).')
      .exactOptional(),
  })
  .describe('What {fields} stands for: fields of the body in the order of their names.');

const template = 'a template such as {timestamp}.{body}, or a list of templates';

/** What a scheme that computes something over the request is composed of. */
export const signing = {
  ...place,
  more_headers: z
    .array(headerName)
    .min(1)
    .max(10)
    .describe('Further headers that may hold a signature; any one may match.')
    .exactOptional(),
  pairs: pairs.exactOptional(),
  prefix: headerText.describe('Text before the signature (only without `pairs`).').exactOptional(),
  encoding: z
    .enum(['hex', 'base64', 'base64url'])
    .default('hex')
    .describe('How the signature is written; hexadecimal in either case.'),
  signed: z
    .union([z.string().max(4000), z.array(z.string().max(4000)).min(1).max(8)], template)
    .default('{body}')
    .describe('What is signed. Of several templates the first whose placeholders all find something counts.'),
  partial: z
    .literal(true)
    .describe('Says that the sender signs only parts of a request, so that the others can be changed unseen.')
    .exactOptional(),
  fields: fields.exactOptional(),
  timestamp: timestamp.exactOptional(),
};
