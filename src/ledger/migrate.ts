import { runner } from 'node-pg-migrate';
import type pg from 'pg';
import { Bug, UserError } from '../errors.ts';
import { readTemplate, templatePath } from '../templates.ts';
import { type ConnectOptions, connect } from './connect.ts';
import {
  type AppliedMigration,
  assertDirectConnection,
  assertMayWrite,
  assertSameHistory,
  assertSupported,
  readPreflight,
} from './migration-checks.ts';
import { type Migration, readMigrations } from './migration-files.ts';

export interface MigrateOptions extends ConnectOptions {
  /** The folder of the migrations; the package's own where left out. */
  folder?: string;
  /** Called with the name of each migration before it runs. */
  onMigration?: (name: string) => void;
  /** How long to wait for another migration of the same database; five minutes where left out. */
  lockTimeoutMs?: number;
}

/** Names of migrations, in their order. */
export interface MigrationPlan {
  /** What the database had before. */
  applied: string[];
  /** What would run, or ran. */
  pending: string[];
}

/** `once` and `hook` in ASCII: the advisory lock that two migrations of one database share. */
const LOCK = '1869505381, 1752133483';
/** A migration that waits for a table must not make every delivery wait behind it. */
const TABLE_LOCK_TIMEOUT_MS = 5_000;

/**
 * Brings the schema `oncehook` of a database up to date, each migration in a transaction of its own with
 * the record of its digest. Safe when several run at once: they wait for each other. Needs no superuser,
 * only CREATE on the database.
 *
 * Returns the names that were applied. Throws UserError: no connection, Postgres too old, a standby or
 * read-only database, missing rights, a transaction pooler, a file edited after it was applied, a database
 * newer than the package, another migration that does not end. Throws Bug where a migration itself fails.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const files = readMigrations(options.folder);
  return withSession(url, options, async (client) => {
    await lock(client, options.lockTimeoutMs ?? 300_000);
    await ensureBookkeeping(client);
    const { pending } = planFrom(await readApplied(client), files);
    if (pending.length > 0) await apply(client, files, options);
    return pending;
  });
}

/** What `migrate` would run, without running or locking anything. Throws as `migrate` does. */
export async function planMigrations(url: string, options: MigrateOptions = {}): Promise<MigrationPlan> {
  const files = readMigrations(options.folder);
  return withSession(url, options, async (client) => planFrom(await readApplied(client), files));
}

async function withSession<T>(
  url: string,
  options: MigrateOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connect(url, options);
  try {
    assertSupported(await readPreflight(client));
    await assertDirectConnection(client, () => connect(url, options));
    await client.query(readTemplate('sql/ledger-session.sql'));
    assertMayWrite(await readPreflight(client));
    return await work(client);
  } finally {
    // Ending the session gives the lock back, whatever state the session is in.
    await client.end();
  }
}

async function lock(client: pg.Client, timeoutMs: number): Promise<void> {
  await client.query(`SET lock_timeout = ${timeoutMs}`);
  try {
    await client.query(`SELECT pg_advisory_lock(${LOCK})`);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '55P03') throw error;
    throw new UserError({
      message: `Another migration of this database has not ended within ${Math.round(timeoutMs / 1000)} s.`,
      remedy:
        "Wait for it, or end its session: SELECT pid, application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory'.",
    });
  }
  await client.query(`SET lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
}

async function ensureBookkeeping(client: pg.Client): Promise<void> {
  // Read again now that the lock is held: another run may have been faster.
  const found = await readPreflight(client);
  if (found.has_bookkeeping) return;
  await client.query('BEGIN');
  if (!found.has_schema) await client.query('CREATE SCHEMA oncehook');
  await client.query(readTemplate('sql/ledger-bookkeeping.sql'));
  await client.query('COMMIT');
}

async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  if (!(await readPreflight(client)).has_bookkeeping) return [];
  const { rows } = await client.query<AppliedMigration>(
    'SELECT name, sha256 FROM oncehook.migrations ORDER BY id',
  );
  return rows;
}

function planFrom(applied: AppliedMigration[], files: Migration[]): MigrationPlan {
  assertSameHistory(applied, files);
  const names = new Set(applied.map(({ name }) => name));
  return {
    applied: applied.map(({ name }) => name),
    pending: files.map(({ name }) => name).filter((name) => !names.has(name)),
  };
}

async function apply(client: pg.Client, files: Migration[], options: MigrateOptions): Promise<void> {
  let running: Migration | undefined;
  const byPath = new Map(files.map((migration) => [migration.file, migration]));
  const silent = () => {};
  try {
    await runner({
      dbClient: client,
      dir: options.folder ?? templatePath('migrations'),
      direction: 'up',
      migrationsSchema: 'oncehook',
      migrationsTable: 'migrations',
      noLock: true, // ours is held
      checkOrder: true,
      singleTransaction: false,
      logger: { info: silent, warn: silent, error: silent },
      migrationLoaderStrategies: [
        {
          extensions: ['.sql'],
          loader: async (paths) =>
            paths.map((path) => {
              const migration = byPath.get(path);
              if (!migration) throw new Bug(`${path} appeared while migrating`);
              return {
                id: path,
                filePaths: [path],
                actions: {
                  up: (builder) => {
                    running = migration;
                    options.onMigration?.(migration.name);
                    builder.sql(`SET LOCAL oncehook.migration_sha256 = '${migration.sha256}'`);
                    builder.sql(migration.sql);
                  },
                  down: false,
                },
              };
            }),
        },
      ],
    });
  } catch (error) {
    throw explainMigrationError(error, running);
  }
}

function explainMigrationError(error: unknown, migration: Migration | undefined): Error {
  const { code, message, position } = error as pg.DatabaseError;
  if (!migration || !code) return new Bug(`Migrating failed: ${message}`, { cause: error });
  if (code === '55P03') {
    return new UserError({
      message: `Migration ${migration.name} waited ${TABLE_LOCK_TIMEOUT_MS / 1000} s for a table that is in use; it was rolled back.`,
      remedy: 'Try again; if it repeats, look for a long transaction in pg_stat_activity.',
    });
  }
  if (code === '42501' || code === '53100') {
    return new UserError({
      message: `Migration ${migration.name} was rolled back: ${message}`,
      file: migration.file,
      remedy:
        code === '53100'
          ? 'Free space on the server.'
          : 'Give the role that migrates this right, then migrate again.',
    });
  }
  const line = position ? migration.sql.slice(0, Number(position)).split('\n').length : undefined;
  return new Bug(
    `${[migration.file, line].filter(Boolean).join(':')}: the migration failed and was rolled back: ${message}`,
    {
      cause: error,
    },
  );
}
