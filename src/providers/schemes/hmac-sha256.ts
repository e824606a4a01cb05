import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { headerName, headerText } from '../fields.ts';
import { secretKey } from '../secret-key.ts';
import type { SignRequest } from '../sign.ts';
import { compileSigned, type SignedParts } from '../signed.ts';

const pairs = z
  .strictObject({
    separator: headerText.describe('What stands between two pairs, e.g. a comma.'),
    name: headerText.describe('The name of the pairs that hold a signature; any one of them may match.'),
    equals: headerText
      .describe('What stands between a name and its value; an equals sign where left out.')
      .exactOptional(),
  })
  .describe('The header holds pairs of name and value; without this the whole header is the value.');

const timestamp = z
  .strictObject({
    pair: headerText
      .describe('The name of the pair that holds the time (only with `pairs`).')
      .exactOptional(),
    header: headerName.describe('The header that holds the time.').exactOptional(),
    unit: z.enum(['s', 'ms']).default('s').describe('The unit of the time since 1970.'),
    tolerance: z.int().min(1).max(604_800).default(300).describe('How old a request may be, in seconds.'),
    future: z
      .enum(['accept', 'refuse'])
      .default('accept')
      .describe('Whether a time further in the future than the tolerance is accepted.'),
  })
  .refine((rule) => (rule.pair === undefined) !== (rule.header === undefined), {
    error: 'either `pair` or `header`, not both',
  })
  .describe('Where the time of the request stands and how old it may be.');

const template = z
  .string()
  .superRefine((text, context) => {
    const { issue } = compileSigned(text);
    if (issue) context.addIssue({ code: 'custom', message: issue });
  })
  .describe('What is signed: text, {timestamp}, {header.name} and exactly one {body}.');

/** HMAC with SHA-256 over a template of timestamp, headers and body. */
export const hmacSha256Schema = z
  .strictObject({
    scheme: z.literal('hmac-sha256').describe('HMAC with SHA-256 over a text that holds the body.'),
    header: headerName.describe('The header that holds the signature.'),
    pairs: pairs.exactOptional(),
    prefix: headerText.describe('Text before the signature (only without `pairs`).').exactOptional(),
    encoding: z.enum(['hex', 'base64']).default('hex').describe('How the signature is written.'),
    secret_encoding: z
      .enum(['utf8', 'hex', 'base64'])
      .default('utf8')
      .describe("How the secret's text becomes the key."),
    secret_prefix: headerText
      .describe('Text that is taken off the secret before it is decoded.')
      .exactOptional(),
    signed: template.default('{body}'),
    timestamp: timestamp.exactOptional(),
  })
  .superRefine((value, context) => {
    const need = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (value.pairs && value.prefix !== undefined) need(['prefix'], 'no prefix together with pairs');
    if (value.pairs && (value.pairs.equals ?? '=').includes(value.pairs.separator)) {
      need(['pairs', 'separator'], 'a separator that does not stand between a name and its value');
    }
    if (value.timestamp?.pair !== undefined && !value.pairs) need(['timestamp', 'pair'], 'pairs beside it');
    if (value.timestamp?.pair !== undefined && value.timestamp.pair === value.pairs?.name) {
      need(['timestamp', 'pair'], "another name than the signature's pair");
    }
    const covered = value.signed.includes('{timestamp}');
    if (covered && !value.timestamp) need(['signed'], 'a timestamp rule beside a template with {timestamp}');
    if (value.timestamp && !covered)
      need(['timestamp'], 'a signed template with {timestamp}, else anyone may renew it');
  })
  .describe('HMAC-SHA256.');

export type HmacSignature = Omit<z.infer<typeof hmacSha256Schema>, 'signed'> & {
  signed: string | SignedParts;
};

/**
 * The headers of a signed request: the signature's, and the timestamp's where it has one of its own.
 * @throws UserError where the template takes in a header that the request lacks, or the secret cannot be decoded.
 */
export function signHmacSha256(signature: HmacSignature, request: SignRequest): Record<string, string> {
  const { pairs: inPairs, timestamp: rule, prefix = '' } = signature;
  const time = rule?.unit === 'ms' ? Math.round(request.timestamp * 1000) : Math.floor(request.timestamp);
  const hmac = createHmac('sha256', secretKey(signature, request.secret));
  for (const part of partsOf(signature.signed)) hmac.update(piece(part, `${time}`, request));
  const value = hmac.digest(signature.encoding);
  const { separator = '', name = '', equals = '=' } = inPairs ?? {};
  const stamp = rule?.pair === undefined ? [] : [`${rule.pair}${equals}${time}`];
  const text = inPairs ? [...stamp, `${name}${equals}${value}`].join(separator) : `${prefix}${value}`;
  return { ...(rule?.header === undefined ? {} : { [rule.header]: `${time}` }), [signature.header]: text };
}

function partsOf(signed: string | SignedParts): SignedParts {
  if (typeof signed !== 'string') return signed;
  const compiled = compileSigned(signed);
  if (compiled.issue !== undefined) throw new UserError(`The signed template needs ${compiled.issue}.`);
  return compiled.parts;
}

function piece(part: string, time: string, request: SignRequest): string | Uint8Array {
  if (part === '{body}') return request.body;
  if (part === '{timestamp}') return time;
  const [, header] = /^\{header\.(.+)\}$/.exec(part) ?? [];
  if (header === undefined) return part;
  const value = Object.entries(request.headers).find(([name]) => name.toLowerCase() === header)?.[1];
  if (value !== undefined) return value;
  throw new UserError({
    message: `The signature covers the header ${header}, which the request does not have.`,
    remedy: `Add the header ${header} to the request.`,
  });
}
