import type pg from 'pg';
import { UserError } from '../errors.ts';
import { readTemplate } from '../templates.ts';

/** A signing secret to be stored: the bytes of the key, decoded from its text by the caller. */
export interface NewSecret {
  sourceId: string;
  /** Unique in its source; shown in lists. The name of the environment variable is a good one. */
  name: string;
  key: Uint8Array;
  /**
   * Where the name already stands for another secret: refuse, or give the old one a name of its own and
   * keep it live, so that deliveries signed with either are accepted while a secret is rotated.
   */
  whenNameTaken?: 'refuse' | 'keep-old';
}

export interface StoredSecret {
  name: string;
  change: 'added' | 'kept' | 'taken back';
  /** The new name of the secret that had this one. */
  renamed?: string;
}

/** A secret without its value. */
export interface SecretInfo {
  source: string;
  name: string;
  createdAt: Date;
  /** Null while deliveries signed with it are accepted. */
  retiredAt: Date | null;
}

/**
 * Stores a secret, in a transaction of its own. A value that the source has already is not stored twice, whatever its
 * name; a retired one becomes live again. No log of the server's statements holds the value.
 *
 * Throws UserError: empty key or name, unknown source, a name that stands for another secret.
 */
export async function addSecret(client: pg.ClientBase, secret: NewSecret): Promise<StoredSecret> {
  const { sourceId, name, key } = secret;
  if (key.length === 0)
    throw new UserError({ message: `The secret "${name}" of source "${sourceId}" is empty.` });
  if (!/^[\x21-\x7e]([\x20-\x7e]{0,98}[\x21-\x7e])?$/.test(name)) {
    throw new UserError({
      message: `A secret of source "${sourceId}" has no usable name.`,
      expected: '1 to 100 printable ASCII characters',
    });
  }
  const stored = await store(client, secret);
  if (stored) return stored;
  if (secret.whenNameTaken !== 'keep-old') {
    throw new UserError({
      message: `Source "${sourceId}" has another secret of the name "${name}".`,
      remedy: 'Choose another name, or retire that secret first.',
    });
  }
  const renamed = `${name.slice(0, 60)} until ${new Date().toISOString()}`;
  await client.query('UPDATE oncehook.webhook_secrets SET name = $3 WHERE source_id = $1 AND name = $2', [
    sourceId,
    name,
    renamed,
  ]);
  const second = await store(client, secret);
  if (!second)
    throw new UserError(
      `The secret "${name}" of source "${sourceId}" is being changed by someone else: try again.`,
    );
  return { ...second, renamed };
}

/** The secrets of one source, or of all, without their values; by source, then age. */
export async function listSecrets(client: pg.ClientBase, sourceId?: string): Promise<SecretInfo[]> {
  const { rows } = await client.query<SecretInfo>(
    `SELECT source_id AS source, name, created_at AS "createdAt", retired_at AS "retiredAt"
     FROM oncehook.webhook_secrets WHERE $1::text IS NULL OR source_id = $1
     ORDER BY source_id, created_at, name`,
    [sourceId ?? null],
  );
  return rows;
}

/** The ids of the active sources whose signature needs a secret and that have no live one: they reject everything. */
export async function sourcesWithoutSecret(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT s.id FROM oncehook.webhook_sources s
     WHERE s.active AND s.signature ->> 'scheme' <> 'none' AND NOT EXISTS (
       SELECT FROM oncehook.webhook_secrets k WHERE k.source_id = s.id AND k.retired_at IS NULL)
     ORDER BY s.id`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Ends the life of a secret: deliveries signed with it are rejected from now on. The row stays, so that the
 * same value can be taken back. Returns false where it was retired before.
 *
 * Throws UserError: no such secret; the last live one of the source, unless `evenLast`.
 */
export async function retireSecret(
  client: pg.ClientBase,
  sourceId: string,
  name: string,
  options: { evenLast?: boolean } = {},
): Promise<boolean> {
  const secrets = await listSecrets(client, sourceId);
  const found = secrets.find((secret) => secret.name === name);
  if (!found) {
    const known = secrets.map((secret) => `"${secret.name}"`).join(', ');
    throw new UserError({
      message: `Source "${sourceId}" has no secret of the name "${name}".`,
      expected: known || 'the source has no secret at all',
    });
  }
  if (found.retiredAt) return false;
  if (!options.evenLast && secrets.filter((secret) => !secret.retiredAt).length === 1) {
    throw new UserError({
      message: `"${name}" is the last live secret of source "${sourceId}": without it every delivery is rejected.`,
      remedy: 'Add the new secret first.',
    });
  }
  await client.query(
    'UPDATE oncehook.webhook_secrets SET retired_at = now() WHERE source_id = $1 AND name = $2',
    [sourceId, name],
  );
  return true;
}

async function store(
  client: pg.ClientBase,
  { sourceId, name, key }: NewSecret,
): Promise<StoredSecret | undefined> {
  await client.query('BEGIN');
  try {
    const blocks = [Math.ceil(key.length / 32)];
    const { rows } = await client.query<{ pad: string }>(readTemplate('sql/ledger-secret-pad.sql'), blocks);
    const pad = Buffer.from(rows[0]?.pad ?? '', 'hex');
    const masked = Buffer.from(key.map((byte, index) => byte ^ (pad[index] ?? 0)));
    const values = [sourceId, name, masked];
    const stored = await client.query<StoredSecret>(readTemplate('sql/ledger-add-secret.sql'), values);
    await client.query('COMMIT');
    return stored.rows[0];
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if ((error as pg.DatabaseError).code !== '23503') throw error;
    throw new UserError({
      message: `The database has no source "${sourceId}".`,
      remedy: 'Write the sources of oncehook.yaml into it first: oncehook migrate.',
    });
  }
}
