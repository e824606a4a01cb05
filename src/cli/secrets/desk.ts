import type pg from 'pg';
import { UserError } from '../../errors.ts';
import type { ResolvedSource } from '../../generate/resolve.ts';
import { connect } from '../../ledger/connect.ts';
import {
  addSecret,
  listSecrets,
  retireSecret,
  type SecretInfo,
  type StoredSecret,
} from '../../ledger/secrets.ts';
import { secretRule, storedKey } from '../../providers/keys.ts';
import { type Context, findSource, loadContext } from '../context.ts';
import { findDatabase } from '../database.ts';
import type { DatabaseOptions } from '../options.ts';
import { confirm, readSecret } from './input.ts';

/** What became of one secret. */
export interface StoredLine extends StoredSecret {
  source: string;
}

/** Where a value may come from. */
export interface AddOptions {
  name?: string;
  fromEnv?: string;
  stdin?: boolean;
}

/** The secrets of one database, by the names of the configuration. */
export interface SecretsDesk {
  sync(): Promise<{ stored: StoredLine[]; missing: { source: string; name: string }[] }>;
  add(source: string, options: AddOptions): Promise<StoredLine[]>;
  list(source: string | undefined): Promise<SecretInfo[]>;
  retire(source: string, name: string, yes: boolean): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens the database of the configuration.
 * @throws UserError as loading the configuration and connecting do.
 */
export async function openDesk(
  configFile: string,
  choice: DatabaseOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<SecretsDesk> {
  const context = await loadContext(configFile);
  const target = await findDatabase(context, choice, env);
  const client = await connect(target.url, { setting: target.setting });
  return {
    sync: () => sync(client, context, env),
    add: (name, options) => add(client, findSource(context, name), options, env),
    list: (name) => listSecrets(client, name === undefined ? undefined : findSource(context, name).id),
    async retire(name, secret, yes) {
      const { id } = findSource(context, name);
      await confirm(`Retire "${secret}"? Deliveries signed with it are rejected from then on.`, yes);
      return retireSecret(client, id, secret);
    },
    close: () => client.end(),
  };
}

async function sync(client: pg.Client, { sources }: Context, env: NodeJS.ProcessEnv) {
  const stored: StoredLine[] = [];
  const missing: { source: string; name: string }[] = [];
  for (const source of sources) {
    for (const name of source.secrets) {
      const value = env[name];
      if (value) stored.push(await store(client, source, name, value, 'keep-old'));
      else missing.push({ source: source.name, name });
    }
  }
  return { stored, missing };
}

async function add(
  client: pg.Client,
  source: ResolvedSource,
  options: AddOptions,
  env: NodeJS.ProcessEnv,
): Promise<StoredLine[]> {
  if (!secretRule(source.signature)) {
    throw new UserError({
      message: `The sender of the source "${source.name}" signs nothing, so that a secret would never be looked at.`,
      remedy: 'What protects the source is its list of addresses.',
    });
  }
  const found = await readSecret(source.secrets, options, env);
  // A name that was chosen must not come to stand for another secret; that of a variable moves on with its value.
  const whenTaken = options.name === undefined ? 'keep-old' : 'refuse';
  const stored: StoredLine[] = [];
  for (const { name, value } of found)
    stored.push(await store(client, source, options.name ?? name, value, whenTaken));
  return stored;
}

async function store(
  client: pg.Client,
  source: ResolvedSource,
  name: string,
  value: string,
  whenNameTaken: 'refuse' | 'keep-old',
): Promise<StoredLine> {
  const key = decode(source, name, value);
  return {
    source: source.name,
    ...(await addSecret(client, { sourceId: source.id, name, key, whenNameTaken })),
  };
}

function decode(source: ResolvedSource, name: string, value: string): Uint8Array {
  try {
    return storedKey(source.signature, value);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [issue, ...rest] = error.issues;
    throw new UserError({ ...issue, path: `${source.name}: ${name}` }, ...rest);
  }
}
