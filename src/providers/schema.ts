import { z } from 'zod';
import { addressSchema } from '../input/addresses.ts';
import { durationSchema } from '../input/duration.ts';
import { headerName, headerText, recipeText } from './fields.ts';
import { signatureSchema } from './signature.ts';

/** What the gate can decide about a delivery. */
export const outcomes = [
  'new',
  'reclaimed',
  'duplicate',
  'mismatch',
  'stale',
  'unkeyed',
  'rejected',
  'unavailable',
] as const;

const answer = z
  .strictObject({
    status: z.int().min(200).max(599).describe('The HTTP status.').exactOptional(),
    body: z.string().max(10_000).describe('The body, as it is sent.').exactOptional(),
    content_type: headerText.describe("The body's content type.").exactOptional(),
  })
  .describe('What the sender gets to hear; what is left out keeps its default.');

const sample = z
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
  })
  .describe('A request as the sender makes it.');

const retry = z
  .strictObject({
    window: durationSchema
      .nullable()
      .describe('How long the sender goes on trying; null where it does not say.'),
    timeout: durationSchema.nullable().default(null).describe('How long the sender waits for an answer.'),
    schedule: z.string().nullable().default(null).describe('When it tries again, in words.'),
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
    answers: z
      .partialRecord(z.enum(outcomes), answer)
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
    notes: z.array(z.string().min(1)).default([]).describe('What a user should know, in plain words.'),
  })
  .describe('A sender of webhooks.');

export type Answer = z.infer<typeof answer>;
export type Outcome = (typeof outcomes)[number];
export type Sample = z.infer<typeof sample>;

/** A provider file that was read; `slug` is the file's name. */
export type Provider = z.infer<typeof providerSchema> & { slug: string };
