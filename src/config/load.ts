import type { z } from 'zod';
import { Bug, type Issue, UserError } from '../errors.ts';
import { durationSeconds } from '../input/duration.ts';
import { byPlace, check } from '../input/schema-issues.ts';
import { isMapping } from '../input/schema-walk.ts';
import { type Path, type Position, parseYaml, readYaml, type YamlFile } from '../input/yaml.ts';
import { configHint, isMisplacedSource } from './hints.ts';
import { readableSources } from './readable.ts';
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
  /** The address that the sender calls. */
  publicUrl: string | undefined;
  /** What the provider's file asks for beside the secret, by name. */
  settings: Record<string, string>;
  /** Whether nodes of the user's answer questions. */
  decide: boolean;
  /** Whether a body may come under one id alone. */
  guard: boolean | undefined;
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

/** What could be read of a configuration, with everything that is wrong with it. */
export interface Inspected {
  /** Complete where there is no issue. Otherwise it holds the sources that can be checked further, and no more. */
  config: Config;
  /** In the order of the file. */
  issues: Issue[];
  /** By source: settings that have an issue already, of which nothing more should be said. */
  doubtful: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Reads `oncehook.yaml`.
 * @throws UserError with every issue at once: file, line, column, path, expectation, remedy.
 */
export async function loadConfig(file: string): Promise<Config> {
  return soundConfig(await inspectConfig(file));
}

/** `loadConfig` for text that is already at hand; `file` names it in errors. */
export function parseConfig(text: string, file: string): Config {
  return soundConfig(inspect(parseYaml(text, file)));
}

/**
 * Reads `oncehook.yaml` for further checks, so that their issues can be told together with its own.
 * @throws UserError where it cannot be read, or is no YAML.
 */
export async function inspectConfig(file: string): Promise<Inspected> {
  const missing = 'Write one (docs/configuration.md shows how), or name the one that you have with --config.';
  return inspect(await readYaml(file, missing));
}

function soundConfig({ config, issues }: Inspected): Config {
  const [first, ...rest] = issues;
  if (first) throw new UserError(first, ...rest);
  return config;
}

function inspect(yaml: YamlFile): Inspected {
  const result = check(configSchema, yaml.value, yaml, [], configHint);
  // Found on the raw value, so that they are reported together with the schema's issues.
  const issues = byPlace([...withoutEcho(result.issues, yaml.value), ...sharedValues(yaml)]);
  const { file, locate, locateKey, locateText } = yaml;
  const places = { locate, locateKey, locateText };
  if ('value' in result) {
    const { project, database, n8n_password, credential, workflows, sources } = result.value;
    const config = {
      ...{ file, project, database, n8nPassword: n8n_password, credential, workflows },
      sources: Object.entries(sources).map(([name, source]) => toSource(name, source)),
      ...places,
    };
    return { config, issues, doubtful: new Map() };
  }
  const readable = readableSources(yaml.value);
  const config = {
    // Nobody gets to see these: there is an issue.
    ...{ file, project: '', database: '', n8nPassword: '', credential: '', workflows: '' },
    sources: readable.map(({ name, source }) => toSource(name, source)),
    ...places,
  };
  return { config, issues, doubtful: new Map(readable.map(({ name, doubtful }) => [name, doubtful])) };
}

/** Sources that stand one level too far out leave `sources` empty: one mistake, so one issue. */
function withoutEcho(issues: Issue[], value: unknown): Issue[] {
  const misplaced = isMapping(value) && Object.entries(value).some((entry) => isMisplacedSource(...entry));
  return misplaced && value['sources'] == null ? issues.filter(({ path }) => path !== 'sources') : issues;
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
    publicUrl: raw.public_url,
    settings: raw.settings,
    decide: raw.decide,
    guard: raw.guard,
    signature: raw.signature,
    addresses: raw.addresses,
  };
}

function seconds(duration: string): number {
  const value = durationSeconds(duration);
  if (value === undefined) throw new Bug('A duration passed the schema and cannot be read.');
  return value;
}
