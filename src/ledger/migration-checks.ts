import type pg from 'pg';
import { UserError } from '../errors.ts';
import { readTemplate } from '../templates.ts';
import type { Migration } from './migration-files.ts';

/** The oldest major version of Postgres that Oncehook supports. */
export const OLDEST_POSTGRES = 14;

/** A row of `oncehook.migrations`. */
export interface AppliedMigration {
  name: string;
  sha256: string;
}

/** The row of `templates/sql/ledger-preflight.sql`. */
export interface Preflight {
  version: number;
  version_text: string;
  standby: boolean;
  read_only: boolean;
  database: string;
  role: string;
  may_create: boolean;
  has_schema: boolean;
  schema_owner: string | null;
  may_use_schema: boolean;
  has_bookkeeping: boolean;
  bookkeeping_owner: string | null;
  owns_bookkeeping: boolean;
  schema_in_use: boolean;
}

/** Reads what `assertSupported` and `assertMayWrite` judge. */
export async function readPreflight(client: pg.ClientBase): Promise<Preflight> {
  const { rows } = await client.query<Preflight>(readTemplate('sql/ledger-preflight.sql'));
  return rows[0] as Preflight;
}

/** Throws UserError for a Postgres that is too old. */
export function assertSupported(found: Pick<Preflight, 'version' | 'version_text'>): void {
  if (Math.floor(found.version / 10_000) >= OLDEST_POSTGRES) return;
  throw new UserError({
    message: `Postgres ${found.version_text} is too old.`,
    expected: `Postgres ${OLDEST_POSTGRES} or later`,
    remedy: 'Upgrade the server, or use another one.',
  });
}

/** Throws UserError where the database cannot be changed, or not by this role. */
export function assertMayWrite(found: Preflight): void {
  const { database, role } = found;
  if (found.standby) {
    throw new UserError({
      message: `The server of database "${database}" is a standby (a read replica): nothing can be written there.`,
      remedy: 'Use the address of the primary.',
    });
  }
  if (found.read_only) {
    throw new UserError({
      message: `Database "${database}" is read-only for role "${role}" (default_transaction_read_only).`,
      remedy: `Use another role, or: ALTER ROLE "${role}" RESET default_transaction_read_only, and the same for the database.`,
    });
  }
  if (!found.has_schema) {
    if (found.may_create) return;
    throw new UserError({
      message: `Role "${role}" may not create the schema oncehook in database "${database}".`,
      remedy: `As the database's owner: GRANT CREATE ON DATABASE "${database}" TO "${role}".`,
    });
  }
  if (!found.may_use_schema || !found.owns_bookkeeping) {
    const owner = found.bookkeeping_owner ?? found.schema_owner;
    throw new UserError({
      message: `The schema oncehook in database "${database}" belongs to role "${owner}"; role "${role}" may not change it.`,
      remedy: `Migrate as "${owner}", or as a superuser: GRANT "${owner}" TO "${role}".`,
    });
  }
  if (!found.has_bookkeeping && found.schema_in_use) {
    throw new UserError({
      message: `Database "${database}" has a schema oncehook that this program did not make.`,
      remedy: 'Use another database, or rename that schema.',
    });
  }
}

/**
 * Throws UserError where the pending migrations must not run: a file was edited after it was applied, or
 * the database knows migrations that this package does not.
 */
export function assertSameHistory(applied: readonly AppliedMigration[], files: readonly Migration[]): void {
  const unknown = applied.filter(({ name }) => !files.some((file) => file.name === name));
  if (unknown.length > 0) {
    throw new UserError({
      message: `The database is newer than this Oncehook: it has ${unknown.map(({ name }) => name).join(', ')}.`,
      remedy: 'Update the package oncehook to the version that migrated the database, or a later one.',
    });
  }
  const edited = applied.flatMap(({ name, sha256 }) => {
    const file = files.find((candidate) => candidate.name === name);
    if (!file || file.sha256 === sha256) return [];
    return [
      {
        message: `${name} was changed after it had been applied to the database.`,
        file: file.file,
        expected: `SHA-256 ${sha256}, found ${file.sha256}`,
        remedy:
          'Restore the file (install the package again, or git checkout), and put changes into a new migration.',
      },
    ];
  });
  const [first, ...rest] = edited;
  if (first) throw new UserError(first, ...rest);
  const gap = files.findIndex((file, index) => index < applied.length && applied[index]?.name !== file.name);
  if (gap >= 0) {
    throw new UserError({
      message: `The database has migrations after ${files[gap]?.name}, but not that one.`,
      remedy:
        'Its table oncehook.migrations was edited by hand: restore the missing row, or the database from a backup.',
    });
  }
}

/**
 * Throws UserError behind a pooler that hands out a server connection per transaction: a session's lock
 * would stay on a connection that others use. Two sessions that are open at once never share a server
 * process, unless such a pooler stands between.
 */
export async function assertDirectConnection(
  client: pg.Client,
  openSecond: () => Promise<pg.Client>,
): Promise<void> {
  const direct = {
    remedy:
      "Connect to the database itself (usually port 5432; the provider's console calls it direct or session connection).",
  };
  if (client.port === 6543) {
    throw new UserError({
      message: 'Port 6543 is the usual one of a transaction pooler, and migrations need a session.',
      ...direct,
    });
  }
  const before = await backendOf(client);
  const second = await openSecond();
  try {
    await second.query('BEGIN');
    const other = await backendOf(second);
    const after = await backendOf(client);
    if (before !== after || other === before) {
      throw new UserError({
        message: `A transaction pooler (such as PgBouncer) stands before ${client.host}:${client.port}, and migrations need a session.`,
        ...direct,
      });
    }
  } finally {
    await second.end();
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
}
