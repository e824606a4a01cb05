import { z } from 'zod';
import { addressSchema } from '../input/addresses.ts';
import { durationSchema } from '../input/duration.ts';
import { itemsSchema } from './batches.ts';
import { handshake, outcomeAnswer, question } from './exchange.ts';
import { fetchSchema } from './fetch.ts';
import { recipeText } from './fields.ts';
import { guideSchema, settingsSchema } from './guide.ts';
import { sample } from './request-sample.ts';
import { signatureSchema } from './signature.ts';

/** What the gate can decide about a delivery of an event. */
const eventOutcomes = [
  'new',
  'reclaimed',
  'duplicate',
  'mismatch',
  'stale',
  'unkeyed',
  'rejected',
  'unavailable',
] as const;

/** What the gate can decide about a request. The last two are no events and bring answers of their own. */
export const outcomes = [...eventOutcomes, 'handshake', 'question'] as const;

const retry = z
  .strictObject({
    window: durationSchema
      .nullable()
      .describe('How long the sender goes on trying; null where it does not say.'),
    timeout: durationSchema.nullable().default(null).describe('How long the sender waits for an answer.'),
    schedule: z.string().nullable().default(null).describe('When it tries again, in words.'),
    never: z
      .boolean()
      .default(false)
      .describe('Whether it never tries again, so that what is not accepted is lost.'),
    success: z.string().default('2xx').describe('The answers that end its tries.'),
    resend: durationSchema.nullable().default(null).describe('How long an event can be sent again by hand.'),
  })
  .describe('How the sender tries again.');

const volatilePath = z
  .string()
  .regex(/^body(\.([^\s."{}]+|"[^"]+"))+$/, 'a path into the body such as body.attempt');

/** A provider file, `templates/providers/<slug>.yaml`: everything that is particular to one sender. */
export const providerSchema = z
  .strictObject({
    name: z.string().min(1).max(60).describe("The sender's name."),
    category: z
      .string()
      .regex(/^[a-z][a-z-]{0,30}$/, 'a word such as payments')
      .describe('What kind of sender it is.'),
    docs: z
      .array(z.url({ protocol: /^https$/, error: 'an https address' }))
      .describe("The sender's own documentation."),
    content_type: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'a content type')
      .describe('The content type it sends.'),
    signature: signatureSchema,
    addresses: z.array(addressSchema).min(1).describe('The addresses it sends from.').exactOptional(),
    key: recipeText.describe('The recipe of what names an event.'),
    type: recipeText.describe("The recipe of an event's type.").exactOptional(),
    object: recipeText.describe('The recipe of the object that an event is about.').exactOptional(),
    volatile: z
      .array(volatilePath)
      .default([])
      .describe('Body paths that differ between deliveries of one event; left out when bodies are compared.'),
    order: recipeText
      .describe('What tells which of two events of one object is the older one, for the work itself.')
      .exactOptional(),
    items: itemsSchema.exactOptional(),
    fetch: fetchSchema.exactOptional(),
    guard: z
      .enum(['on', 'offered'])
      .describe(
        'For an id in a header that the signature does not cover: whether a body that came before is refused under a new id unless the source says otherwise (on), or only if it asks for it (offered, for senders that send the same body as two events).',
      )
      .exactOptional(),
    handshakes: z.array(handshake).default([]).describe('Requests that check the address and are no events.'),
    questions: z.array(question).default([]).describe('Requests that ask for a decision and are no events.'),
    settings: settingsSchema.default({}),
    answers: z
      .partialRecord(z.enum(eventOutcomes), outcomeAnswer)
      .default({})
      .describe('Answers that the sender insists on.'),
    retry,
    outgoing_key: z
      .strictObject({
        header: z.string().min(1).describe('The header, as the sender spells it.'),
        max_length: z.int().min(1).describe('The longest value it takes.'),
      })
      .describe("How a call to the sender's own API is made idempotent.")
      .exactOptional(),
    configurable: z
      .array(z.enum(['signature']))
      .default([])
      .describe("What is left to a source's configuration."),
    samples: z
      .record(z.string().min(1).max(100), sample)
      .refine((samples) => Object.keys(samples).length > 0, 'at least one sample')
      .describe('Requests by event type, for `oncehook send` and the tests.'),
    ...guideSchema,
    notes: z.array(z.string().min(1)).default([]).describe('What a user should know, in plain words.'),
  })
  .refine(
    ({ fetch, settings }) =>
      [...(fetch?.url.matchAll(/\{setting\.([^{}]+)\}/g) ?? [])].every(([, name]) =>
        Object.hasOwn(settings, name ?? ''),
      ),
    { path: ['fetch', 'url'], error: 'no {setting.name} but those of `settings`' },
  )
  .refine(({ items, fetch }) => items === undefined || fetch === undefined, {
    path: ['fetch'],
    error: 'nothing beside `items`: what is fetched is one event',
  })
  .refine(({ guard, items, fetch }) => guard === undefined || (items === undefined && fetch === undefined), {
    path: ['guard'],
    error: 'no guard beside `items` or `fetch`, whose ids stand in the body',
  })
  .superRefine(({ content_type, signature }, context) => {
    const bytes =
      signature.scheme === 'jws' ||
      signature.scheme === 'jwt' ||
      ('signed' in signature && /\{body[|}]/.test(JSON.stringify(signature.signed)));
    if (content_type === 'multipart/form-data' && bytes)
      context.addIssue({
        code: 'custom',
        path: ['content_type'],
        message: 'no multipart form where the bytes of the body are signed: n8n hands on its fields alone',
      });
  })
  .describe('A sender of webhooks.');

export type Answer = z.infer<typeof outcomeAnswer>;
export type Outcome = (typeof outcomes)[number];
export type Sample = z.infer<typeof sample>;

/** A provider file that was read; `slug` is the file's name. */
export type Provider = z.infer<typeof providerSchema> & { slug: string };

/** The JSON Schema (draft-07, as for the configuration) of a provider file, made from the zod schema that checks it. */
export function providerJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(providerSchema, { target: 'draft-07', io: 'input' });
  return { $schema, title: 'Provider file of Oncehook', ...rest };
}
