import { z } from 'zod';

/** What a provider file tells people, and the docs and `oncehook providers` show. */

const sentences = z.array(z.string().min(1)).default([]);

export const proofSchema = z
  .strictObject({
    by: z
      .enum(['sdk', 'vector', 'documentation', 'unproven'])
      .describe(
        'sdk: a library of the sender, or of the standard, accepts what is signed here and the other way round, in the tests. vector: signed deliveries from the sender are accepted, in the tests. documentation: written after the documentation alone. unproven: not even that.',
      ),
    source: z.string().min(1).max(300).describe('Which library, vector or page.'),
  })
  .describe('How it is known that the signature is right.');

export const recheckSchema = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(300)
      .describe(
        'The call that reads the object anew: its address, with the method before it unless that is GET.',
      ),
    auth: z.string().min(1).max(200).describe('How it proves who calls.'),
    status: z.string().max(200).describe('What says that it was paid.').exactOptional(),
    amount: z.string().max(200).describe('Where the amount stands, and in which unit.').exactOptional(),
    currency: z.string().max(200).describe('Where the currency stands.').exactOptional(),
    order: z.string().max(200).describe("Where the shop's own order number stands.").exactOptional(),
  })
  .describe('How a payment is read again before anything of value is handed out.');

export const settingsSchema = z
  .record(
    z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'a name such as webhook_id'),
    z.strictObject({
      describe: z.string().min(1).max(300).describe('What it is, and where it stands at the sender.'),
      example: z.string().min(1).max(200).describe('A value of the right shape, which the samples use.'),
    }),
  )
  .describe(
    'Values that are no secrets and that a source must give under `settings`; {setting.name} stands for them.',
  );

export const guideSchema = {
  setup: sentences.describe('Steps at the sender, in order, in plain words.'),
  secret: z
    .string()
    .min(1)
    .max(500)
    .describe('What the secret is, and where it stands at the sender.')
    .exactOptional(),
  proof: proofSchema.exactOptional(),
  uncovered: z
    .array(
      z
        .string()
        .regex(
          /^(body|headers|query|time|url|body(\.([^\s."{}]+|"[^"{}]+"))+|(header|query)\.\S+)$/,
          'body, headers, query, time, url, or a place such as body.data or header.x-id',
        ),
    )
    .default([])
    .describe(
      'What anyone could change without breaking the signature: whole parts, or single places that matter. The tests prove the list.',
    ),
  recheck: recheckSchema.exactOptional(),
};
