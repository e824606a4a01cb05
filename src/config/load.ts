import type { z } from 'zod';
import { Bug, type Issue, UserError } from '../errors.ts';
import { durationSeconds } from '../input/duration.ts';
import { check } from '../input/schema-issues.ts';
import { type Path, type Position, parseYaml, readYaml, type YamlFile } from '../input/yaml.ts';
import { configSchema } from './schema.ts';
import { sharedValues } from './unique.ts';

type Raw = z.infer<typeof configSchema>;

/** One entry under `sources`, defaults filled in; what is undefined is left to the provider. */
export interface SourceConfig {
  name: string;
  /** Never changes; the name unless `id` says otherwise. */
  id: string;
  provider: string;
  path: string;
  /** Names of environment variables. */
  secrets: string[];
  ack: 'after-claim' | 'after-success';
  leaseSeconds: number;
  maxAttempts: number;
  /** Whole days, rounded up. */
  retentionDays: number;
  key: string | undefined;
  type: string | undefined;
  object: string | undefined;
  keyFormat: 'plain' | 'sha256';
  toleranceSeconds: number | undefined;
  /** Not yet checked: only the provider says whether it may stand here. */
  signature: Record<string, unknown> | undefined;
  addresses: string[] | 'any' | undefined;
}

/** `oncehook.yaml`, read and checked by itself. */
export interface Config {
  /** As the user named it. */
  file: string;
  project: string;
  /** Name of an environment variable. */
  database: string;
  /** Name of an environment variable. */
  n8nPassword: string;
  credential: string;
  /** A folder, relative to the config file's. */
  workflows: string;
  sources: SourceConfig[];
  /** Where a path such as `['sources', 'shop', 'key']` stands, for issues that are found later. */
  locate(path: Path): Position;
  locateKey(path: Path): Position;
  locateText(path: Path, line: number, column: number): Position;
}

/**
 * Reads `oncehook.yaml`.
 * @throws UserError with every issue at once: file, line, column, path, expectation, remedy.
 */
export async function loadConfig(file: string): Promise<Config> {
  return toConfig(
    await readYaml(
      file,
      'Write one (docs/configuration.md shows how), or name the one that you have with --config.',
    ),
  );
}

/** `loadConfig` for text that is already at hand; `file` names it in errors. */
export function parseConfig(text: string, file: string): Config {
  return toConfig(parseYaml(text, file));
}

function toConfig(yaml: YamlFile): Config {
  const result = check(configSchema, yaml.value, yaml);
  // Found on the raw value, so that they are reported together with the schema's issues.
  const issues: Issue[] = [...result.issues, ...sharedValues(yaml)].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
  const [first, ...rest] = issues;
  if (first) throw new UserError(first, ...rest);
  if (!('value' in result)) throw new Bug('The configuration has neither a value nor an issue.');
  const { project, database, n8n_password, credential, workflows, sources } = result.value;
  const { file, locate, locateKey, locateText } = yaml;
  return {
    ...{ file, project, database, n8nPassword: n8n_password, credential, workflows },
    sources: Object.entries(sources).map(([name, source]) => toSource(name, source)),
    ...{ locate, locateKey, locateText },
  };
}

function toSource(name: string, raw: Raw['sources'][string]): SourceConfig {
  return {
    name,
    id: raw.id ?? name,
    provider: raw.provider,
    path: raw.path ?? name,
    secrets: raw.secrets,
    ack: raw.ack,
    leaseSeconds: seconds(raw.lease),
    maxAttempts: raw.max_attempts,
    retentionDays: Math.ceil(seconds(raw.retention) / 86_400),
    key: raw.key,
    type: raw.type,
    object: raw.object,
    keyFormat: raw.key_format,
    toleranceSeconds: raw.tolerance === undefined ? undefined : seconds(raw.tolerance),
    signature: raw.signature,
    addresses: raw.addresses,
  };
}

function seconds(duration: string): number {
  const value = durationSeconds(duration);
  if (value === undefined) throw new Bug('A duration passed the schema and cannot be read.');
  return value;
}
