import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { z } from 'zod';
import { Bug, type Issue } from '../src/errors.ts';
import { check, type Hint, showPath } from '../src/input/schema-issues.ts';
import { awsSettings } from './aws/settings.ts';
import { asRunError, refuse } from './errors.ts';
import { rawSettings } from './settings-raw.ts';

const name = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,49}$/, 'a name of 1 to 50 letters, digits, dashes and underscores');

/** What both targets take. */
const common = {
  database: name.default('oncehook').describe('The database that holds the schema.'),
  passwordVersion: z
    .int()
    .min(1)
    .default(1)
    .describe('Another number has the generated passwords made anew.'),
  keepData: z
    .boolean()
    .default(true)
    .describe('Whether `pulumi destroy` leaves database, roles and schema where they are.'),
  configFile: z.string().min(1).default('oncehook.yaml').describe('The configuration with the sources.'),
};

const existing = z.strictObject({
  target: z.literal('existing'),
  ...common,
  host: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,253}$/, 'a host name or an address, without scheme, port or blanks')
    .describe('Where the server is.'),
  port: z.int().min(1).max(65_535).default(5432),
  sslmode: z
    .enum(['disable', 'require', 'verify-ca', 'verify-full'])
    .describe('As in libpq. Explicit, because each choice is a decision.'),
  sslrootcert: z
    .string()
    .min(1)
    .exactOptional()
    .describe("A file with a private authority's certificate (PEM)."),
  adminUser: z.string().min(1).max(63).describe('Who makes database and roles.'),
  maintenanceDatabase: name.default('postgres').describe('The database that adminUser connects to first.'),
  createDatabase: z.boolean().default(true).describe('False: use the database that is there.'),
  createRoles: z
    .boolean()
    .default(true)
    .describe('False: adminUser itself owns the schema, where the service lets nobody create roles.'),
});

const aws = z.strictObject({
  target: z.literal('aws'),
  ...common,
  aws: awsSettings,
});

const settingsSchema = z.discriminatedUnion('target', [existing, aws]);

/** Values that are never part of `Settings`, so that nothing prints them by mistake. */
const secretsSchema = z.strictObject({
  adminPassword: z.string().min(1).exactOptional(),
  n8nPassword: z
    .string()
    .regex(/^[\x20-\x7e]+$/, 'a password of printable ASCII characters')
    .exactOptional(),
  secrets: z
    .record(z.string(), z.record(z.string(), z.string().min(1)))
    .default({})
    .describe('Signing secrets: by source id, then by the name that oncehook.yaml gives them.'),
});

export type ExistingSettings = z.output<typeof existing>;
export type Settings = z.output<typeof settingsSchema>;
export type StackSecrets = z.output<typeof secretsSchema>;

/** Every setting's name, by what it is read as. */
const kinds = {
  json: ['aws', 'secrets'],
  number: ['port', 'passwordVersion'],
  boolean: ['createDatabase', 'createRoles', 'keepData'],
} as const;
const secretNames = Object.keys(secretsSchema.shape);

/**
 * The stack's configuration, checked as a whole.
 * @throws pulumi.RunError with every issue at once and what to do about each; no value stands in a message.
 */
export function readSettings(): { settings: Settings; secrets: StackSecrets } {
  try {
    return checkedSettings();
  } catch (error) {
    throw asRunError(error);
  }
}

function checkedSettings(): { settings: Settings; secrets: StackSecrets } {
  const { values, open, file } = rawSettings(kinds);
  const isSecret = ([key]: [string, unknown]) => secretNames.includes(key);
  const entries = Object.entries(values);
  const plain = Object.fromEntries(entries.filter((entry) => !isSecret(entry)));
  const hidden = Object.fromEntries(entries.filter(isSecret));
  const at = { locate: () => ({ file }), locateKey: () => ({ file }) };
  const settings = check(settingsSchema, forTarget(plain), at, [], howToSet);
  const secrets = check(secretsSchema, hidden, at, [], howToSet);
  refuse([
    ...settings.issues,
    ...secrets.issues,
    ...open
      .filter((key) => secretNames.includes(key) && !isEmpty(hidden[key]))
      .map((key) => notSecret(key, file)),
    ...missingPassword(plain, hidden, file),
    ...('value' in settings ? authorityIssues(settings.value, file) : []),
  ]);
  if (!('value' in settings) || !('value' in secrets))
    throw new Bug('An issue of the settings was passed over.');
  return { settings: settings.value, secrets: secrets.value };
}

/** `pulumi new` asks for every setting of the first target; another target does not look at them. */
function forTarget(values: Record<string, unknown>): Record<string, unknown> {
  if (values['target'] !== 'aws') return values;
  const foreign = Object.keys(existing.shape).filter((key) => !(key in aws.shape));
  return Object.fromEntries(Object.entries(values).filter(([key]) => !foreign.includes(key)));
}

function missingPassword(
  plain: Record<string, unknown>,
  hidden: Record<string, unknown>,
  file: string,
): Issue[] {
  if (plain['target'] === 'aws' || hidden['adminPassword'] !== undefined) return [];
  return [
    {
      file,
      path: 'adminPassword',
      message: 'This setting is missing.',
      expected: 'the password of adminUser',
      remedy: commandFor('adminPassword'),
    },
  ];
}

function authorityIssues(settings: Settings, file: string): Issue[] {
  const issues: Issue[] = [];
  if (settings.target === 'aws') return issues;
  const { sslmode, sslrootcert } = settings;
  if (sslmode === 'verify-ca' && sslrootcert === undefined) {
    issues.push({
      file,
      path: 'sslrootcert',
      message: 'sslmode verify-ca needs the authority that it trusts.',
      expected: "a file with the authority's certificate (PEM)",
      remedy: `${commandFor('sslrootcert')}, or use verify-full where the authority is a public one.`,
    });
  }
  if (sslrootcert !== undefined && !existsSync(resolve(pulumi.getRootDirectory(), sslrootcert))) {
    issues.push({
      file,
      path: 'sslrootcert',
      message: 'There is no such file.',
      expected: "a path relative to the project's folder",
      remedy: 'Put the certificate there, or correct the path.',
    });
  }
  return issues;
}

const names: ReadonlySet<string> = new Set(
  [existing, aws, secretsSchema].flatMap(({ shape }) => Object.keys(shape)),
);

/** What `pulumi config rm --path` leaves of the last secret, and what Pulumi then no longer counts as one. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

const howToSet: Hint = (path) => {
  const key = showPath(path);
  return names.has(key) ? commandFor(key) : undefined;
};

function commandFor(key: string): string {
  return `pulumi config set ${secretNames.includes(key) ? '--secret ' : ''}${key} <value>`;
}

function notSecret(key: string, file: string): Issue {
  return {
    file,
    path: key,
    message: 'This value stands in the file in clear.',
    expected: 'an encrypted value',
    remedy:
      key === 'secrets'
        ? 'Set each one anew: pulumi config set --secret --path secrets.<source>.<name>. If the file was shared, replace the secret at the sender.'
        : `Set it anew: pulumi config set --secret ${key}. If the file was shared, change the password.`,
  };
}
