import { z } from 'zod';
import { addressSchema } from '../input/addresses.ts';
import { durationBetween } from '../input/duration.ts';
import { environmentName, environmentNameSuchAs } from './env.ts';

/** A name of a project or a source, or an id. */
export const word = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, '1 to 40 of a-z, 0-9 and the dash, the first one no dash');

const webhookPath = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/,
    'letters, digits, dashes, underscores and single slashes between them',
  );

const recipe = z.string().min(1).max(4000);

/** One entry under `sources`. */
export const sourceSchema = z
  .strictObject({
    id: word
      .describe("The source's lasting id. Default: its name; to rename a source, keep its old name here.")
      .exactOptional(),
    provider: z
      .string()
      .describe(
        'Who sends: a name that `oncehook providers` lists, or of a file in the folder providers beside this one, without .yaml.',
      ),
    path: webhookPath.describe("The webhook's path in n8n. Default: the source's name.").exactOptional(),
    secrets: z
      .array(environmentName)
      .max(10)
      .default([])
      .describe(
        'NAMES of the environment variables that hold the signing secrets; several while one is replaced.',
      ),
    ack: z
      .enum(['after-claim', 'after-success'])
      .default('after-claim')
      .describe('When the sender gets its answer: once the event is stored, or once the work is done.'),
    lease: durationBetween('2s', '24h')
      .default('15m')
      .describe('How long a run may take before another may take the event over (2s to 24h).'),
    max_attempts: z
      .int()
      .min(1)
      .max(100)
      .default(8)
      .describe('How often an event is tried before it is a dead letter.'),
    retention: durationBetween('1d', '3650d')
      .default('90d')
      .describe(
        "How long events are kept; never shorter than the sender's retries. Part of a day counts as a day.",
      ),
    key: recipe
      .describe(
        "A recipe that names an event, e.g. {body.id}; one alternative a line. Default: the provider's.",
      )
      .exactOptional(),
    type: recipe.describe("A recipe of the event's type. Default: the provider's.").exactOptional(),
    object: recipe
      .describe("A recipe of the object that the event is about. Default: the provider's.")
      .exactOptional(),
    key_format: z
      .enum(['plain', 'sha256'])
      .default('plain')
      .describe('Whether keys are stored as they are, or hashed where no ids may stand in the table.'),
    tolerance: durationBetween('1s', '7d')
      .describe("How old a signed request may be. Default: the provider's.")
      .exactOptional(),
    public_url: z
      .string()
      .max(2000)
      .regex(/^https?:\/\/[^\s/?#]+[^\s#]*$/, 'an address such as https://n8n.example.com/webhook/shop')
      .describe('The address that the sender calls, exactly as it is registered there; where it is signed.')
      .exactOptional(),
    settings: z
      .record(
        z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'a name such as webhook_id'),
        z.string('a text (in quotes where it is all digits)').min(1).max(1000),
      )
      .default({})
      .describe("What the provider's file asks for beside the secret, by name; nothing that is secret."),
    decide: z
      .boolean()
      .default(false)
      .describe(
        "Whether nodes of yours answer the sender's questions. Without it each is refused; nothing is ever approved by default.",
      ),
    guard: z
      .boolean()
      .describe(
        "Whether a body that came before is refused under a new id, where the signature does not cover the id. Default: as the provider's file says.",
      )
      .exactOptional(),
    signature: z
      .record(z.string(), z.unknown())
      .describe("The sender's signature; only where the provider's file leaves it open.")
      .exactOptional(),
    addresses: z
      .union(
        [z.literal('any'), z.array(addressSchema).min(1)],
        'a list of addresses and networks, or the word any',
      )
      .describe("The addresses that may send, or `any`. Default: the provider's list.")
      .exactOptional(),
  })
  .describe('One configured endpoint of a provider.');

/** `oncehook.yaml` as it is written. */
export const configSchema = z
  .strictObject({
    project: word.describe(
      'Names the project; the ids of the workflows come from it and from the source ids.',
    ),
    database: environmentNameSuchAs('ONCEHOOK_DATABASE_URL')
      .default('ONCEHOOK_DATABASE_URL')
      .describe('NAME of the environment variable that holds the address of the Postgres database.'),
    n8n_password: environmentNameSuchAs('ONCEHOOK_N8N_PASSWORD')
      .default('ONCEHOOK_N8N_PASSWORD')
      .describe(
        'NAME of the environment variable that holds the password of the database role oncehook_n8n.',
      ),
    credential: z
      .string()
      .min(1)
      .max(128)
      .default('Oncehook Postgres')
      .describe("The name of n8n's Postgres credential."),
    workflows: z
      .string()
      .min(1)
      .max(400)
      .default('workflows')
      .describe('The folder that the workflows are written to.'),
    sources: z.record(word, sourceSchema).describe('The endpoints, by name.'),
  })
  .describe('The configuration of Oncehook.');

/**
 * The JSON Schema (draft-07, which yaml-language-server reads best) of `oncehook.yaml`, made from the same zod
 * schema that checks the file.
 */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { target: 'draft-07', io: 'input' });
  return { $schema, title: 'oncehook.yaml', ...rest };
}
