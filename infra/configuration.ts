import { dirname, join, relative, resolve, sep } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { type Config, inspectConfig } from '../src/config/load.ts';
import { type Issue, UserError } from '../src/errors.ts';
import { type ResolvedSource, resolveInspected, type SourceRow } from '../src/generate/resolve.ts';
import { oneOf } from '../src/input/schema-issues.ts';
import { storedKey } from '../src/providers/keys.ts';
import { explained, refuse } from './errors.ts';
import type { SigningSecret } from './work/schema.ts';

/** Signing secrets as people have them: by source id, then by the name that the configuration gives them. */
export type GivenSecrets = Record<string, Record<string, string>>;

/** What `oncehook.yaml` and the secrets at hand say of a ledger. */
export interface LedgerContent {
  project: string;
  /** The name of n8n's Postgres credential. */
  credential: string;
  sources: SourceRow[];
  /** In clear: hand it on as a secret. */
  secrets: SigningSecret[];
}

/**
 * Reads `oncehook.yaml`, and for each secret that it names the value: the given one, or else that of the environment
 * variable. One that is in neither place is left as the database has it.
 * @throws pulumi.RunError with every issue of the configuration, or of the secrets; no value stands in a message.
 */
export async function readConfiguration(
  file: string,
  given: GivenSecrets = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<LedgerContent> {
  return explained(async () => {
    const { config, sources } = await readSources(file);
    refuse(strangers(sources, given));
    const { project, credential } = config;
    return { project, credential, sources: sources.map(rowOf), secrets: signingSecrets(sources, given, env) };
  });
}

/** The program works in its own folder; people know the file by its place in the project. */
async function readSources(file: string): Promise<{ config: Config; sources: ResolvedSource[] }> {
  const path = resolve(pulumi.getRootDirectory(), file);
  try {
    const inspected = await inspectConfig(path);
    return { config: inspected.config, sources: resolveInspected(inspected) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // The configuration, and own provider files beside it.
    const near = `${dirname(path)}${sep}`;
    const named = (issue: Issue) =>
      issue.file?.startsWith(near)
        ? { ...issue, file: join(dirname(file), relative(dirname(path), issue.file)) }
        : issue;
    const [first, ...rest] = error.issues;
    throw new UserError(named(first), ...rest.map(named));
  }
}

/** What `webhook_sources` holds of a source, and no more of it. */
function rowOf(source: ResolvedSource): SourceRow {
  const { id, name, provider, signature, key, keyFormat, type, object, volatile } = source;
  const { toleranceSeconds, leaseSeconds, maxAttempts, retentionDays, ack, answers, rules } = source;
  return {
    ...{ id, name, provider, signature, key, keyFormat, type, object, volatile },
    ...{ toleranceSeconds, leaseSeconds, maxAttempts, retentionDays, ack, answers, rules },
  };
}

/** Secrets that belong to no source, or that the configuration does not name. */
function strangers(sources: readonly ResolvedSource[], given: GivenSecrets): Issue[] {
  return Object.entries(given).flatMap(([id, values]): Issue[] => {
    const source = sources.find((candidate) => candidate.id === id);
    if (!source) {
      const known = sources.map((candidate) => candidate.id);
      return [stranger(`secrets.${id}`, 'There is no source of this id.', id, known)];
    }
    return Object.keys(values)
      .filter((name) => !source.secrets.includes(name))
      .map((name) => {
        const message = 'The configuration gives no secret of this source this name.';
        return stranger(`secrets.${id}.${name}`, message, name, source.secrets);
      });
  });
}

function stranger(path: string, message: string, word: string, known: string[]): Issue {
  const { expected, remedy } = known.length > 0 ? oneOf(word, known) : { expected: 'no secret', remedy: '' };
  return {
    path,
    message,
    ...(expected === undefined ? {} : { expected }),
    remedy: `${remedy} To take it away: pulumi config rm --path ${path}`.trim(),
  };
}

function signingSecrets(
  sources: readonly ResolvedSource[],
  given: GivenSecrets,
  env: NodeJS.ProcessEnv,
): SigningSecret[] {
  const issues: Issue[] = [];
  const secrets = sources.flatMap((source) =>
    source.secrets.flatMap((name): SigningSecret[] => {
      const value = given[source.id]?.[name] ?? env[name];
      if (!value) return [];
      try {
        const key = Buffer.from(storedKey(source.signature, value)).toString('base64');
        return [{ source: source.id, name, key }];
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        issues.push(...error.issues.map((issue) => ({ ...issue, path: `secrets.${source.id}.${name}` })));
        return [];
      }
    }),
  );
  refuse(issues);
  return secrets;
}
