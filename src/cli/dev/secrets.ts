import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type pg from 'pg';
import type { ResolvedSource } from '../../generate/resolve.ts';
import { addSecret } from '../../ledger/secrets.ts';
import { randomSecret, storedKey } from '../../providers/keys.ts';
import { FILES, readText, writePrivate } from './folder.ts';

const HEAD = `# Signing secrets that Oncehook made up for development on this machine, for sources whose environment
# variable is not set. A variable that is set goes first. Never use these anywhere else.
`;

/** One secret of a source in development: never its value. */
export interface DevSecret {
  source: string;
  /** The environment variable that the configuration names. */
  name: string;
  from: 'environment' | 'file' | 'made now';
}

/** The secrets that `.oncehook/secrets.env` keeps, by name. @throws UserError where it cannot be read. */
export async function readDevSecrets(devFolder: string): Promise<Readonly<Record<string, string>>> {
  const text = await readText(join(devFolder, FILES.secrets));
  return text === undefined ? {} : (parseEnv(text) as Record<string, string>);
}

/**
 * Sees that every secret which the configuration names has a value: the environment's, or else one of
 * `.oncehook/secrets.env`, which gets a random one where it lacks it. Stores all of them in the ledger.
 * @throws UserError where the file cannot be written, or a value cannot be decoded.
 */
export async function keepDevSecrets(
  client: pg.ClientBase,
  devFolder: string,
  sources: readonly ResolvedSource[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<DevSecret[]> {
  const known = await readDevSecrets(devFolder);
  const made: Record<string, string> = {};
  const found: (DevSecret & { sourceId: string; key: Uint8Array })[] = [];
  for (const { id, name: source, signature, secrets } of sources) {
    for (const name of secrets) {
      const given = env[name] || known[name] || made[name];
      const value = given || randomSecret(signature);
      if (!given) made[name] = value;
      const from = env[name] ? 'environment' : known[name] ? 'file' : 'made now';
      found.push({ source, name, from, sourceId: id, key: storedKey(signature, value) });
    }
  }
  // On the disk before the ledger has them: an interrupted first run must not leave one that nobody knows.
  if (Object.keys(made).length > 0) {
    const text = (await readText(join(devFolder, FILES.secrets))) ?? HEAD;
    const lines = Object.entries(made).map(([name, value]) => `${name}=${value}\n`);
    await writePrivate(join(devFolder, FILES.secrets), text.replace(/\n*$/, '\n') + lines.join(''));
  }
  for (const { sourceId, name, key } of found) {
    await addSecret(client, { sourceId, name, key, whenNameTaken: 'keep-old' });
  }
  return found.map(({ source, name, from }) => ({ source, name, from }));
}
