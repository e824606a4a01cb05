import type pg from 'pg';
import { UserError } from '../errors.ts';
import { readTemplate } from '../templates.ts';

/** One source as `webhook_sources` holds it. The generator's resolved sources have this shape and more. */
export interface SourceRow {
  /** Begins every idempotency key of the source; never changes. */
  id: string;
  name: string;
  provider: string;
  /** Stored as JSON; the functions of the schema read it. */
  signature: object;
  /** Recipes. */
  key: string;
  keyFormat: 'plain' | 'sha256';
  type: string | null;
  object: string | null;
  /** Paths inside the body, without a leading `body`. */
  volatile: readonly (readonly string[])[];
  toleranceSeconds: number | null;
  leaseSeconds: number;
  maxAttempts: number;
  retentionDays: number;
  ack: 'after-claim' | 'after-success';
  /** By outcome. */
  answers: object;
  /** What few senders need; stored as JSON. */
  rules: object | null;
}

/** What became of one source; sources that were as they should be are not reported. */
export interface SourceChange {
  id: string;
  change: 'added' | 'updated' | 'switched on' | 'switched off';
  /** The columns whose values changed; for an added source, all of them. */
  fields: string[];
}

/**
 * Writes the configuration's sources into `webhook_sources`, in one statement. Sources that are not among
 * `rows` are switched off (their deliveries are rejected), never deleted: their events stay and their
 * settings come back with them.
 *
 * Returns what changed, by id. The rows must have been checked: what the table refuses is a Bug of the
 * caller and arrives as node-postgres's error.
 * @throws UserError where a source needs SHA-1 and the extension for it cannot be made.
 */
export async function syncSources(
  client: pg.ClientBase,
  rows: readonly SourceRow[],
): Promise<SourceChange[]> {
  if (rows.some(({ signature }) => 'hash' in signature && signature.hash === 'sha1'))
    await ensureSha1(client);
  const wanted = rows.map((row) => ({
    id: row.id,
    name: row.name,
    provider: row.provider,
    signature: row.signature,
    key_recipe: row.key,
    key_format: row.keyFormat,
    type_recipe: row.type,
    object_recipe: row.object,
    volatile: row.volatile,
    tolerance_seconds: row.toleranceSeconds,
    lease_seconds: row.leaseSeconds,
    max_attempts: row.maxAttempts,
    retention_days: row.retentionDays,
    ack: row.ack,
    answers: row.answers,
    rules: row.rules,
  }));
  const sql = readTemplate('sql/ledger-sync-sources.sql');
  return (await client.query<SourceChange>(sql, [JSON.stringify(wanted)])).rows;
}

/**
 * Postgres itself has no SHA-1. The extension is a trusted one: whoever may create in the database may make it. It gets
 * a schema of its own, for its functions are the superuser's, and the grants of `oncehook` are not for them.
 */
async function ensureSha1(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'pgcrypto'");
  if (rowCount) return;
  try {
    await client.query(
      'CREATE SCHEMA IF NOT EXISTS oncehook_pgcrypto; CREATE EXTENSION IF NOT EXISTS pgcrypto SCHEMA oncehook_pgcrypto',
    );
  } catch (error) {
    throw new UserError({
      message: `A source's sender signs with SHA-1, for which the database lacks the extension pgcrypto: ${(error as Error).message}.`,
      remedy: 'Have an administrator of the database run: CREATE EXTENSION pgcrypto',
    });
  }
}

/** The providers of sources that the database has, by id. */
export async function providersOf(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<{ id: string; provider: string }[]> {
  const sql = 'SELECT id, provider FROM oncehook.webhook_sources WHERE id = ANY ($1::text[]) ORDER BY id';
  return (await client.query<{ id: string; provider: string }>(sql, [ids])).rows;
}
