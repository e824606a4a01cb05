import { randomBytes } from 'node:crypto';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { connect } from '../../../src/ledger/connect.ts';
import type { PostgresVersion } from '../../../src/ledger/embedded/binaries.ts';
import { startServer } from '../../../src/ledger/embedded/server.ts';
import type { Authority } from './certificate.ts';

/** The versions between which the rights of PUBLIC and of a role's creator differ. */
export const VERSIONS: readonly PostgresVersion[] = [14, 16, 18];

/** A server of its own, because roles belong to a server; with an admin as managed services give one. */
export interface TestServer {
  port: number;
  /** CREATEDB and CREATEROLE, no superuser. */
  admin: { user: string; password: string };
  /** As superuser where no login is given. */
  url(database: string, login?: { user: string; password: string }): string;
  /** Runs statements as superuser, each on its own, and gives the rows of the last. */
  sql<T extends object = Record<string, unknown>>(database: string, ...statements: string[]): Promise<T[]>;
  /** Every line of the server's log so far, statements included. */
  log(): string;
  /** Removes every database and role that the tests made, and leaves the admin. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
}

/** `tls`: the server speaks it, with the certificate of a private authority. */
export async function startTestServer(
  version: PostgresVersion,
  { tls }: { tls?: Authority } = {},
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'oncehook-pulumi-'));
  const lines: string[] = [];
  const server = await startServer({
    dataDir: join(folder, 'postgres'),
    version,
    durable: false,
    settings: { fsync: 'off', full_page_writes: 'off', log_statement: 'all', log_min_messages: 'warning' },
    onLog: (line) => lines.push(line),
  });
  const admin = { user: 'admin', password: randomBytes(12).toString('hex') };
  const sql: TestServer['sql'] = async (database, ...statements) => {
    const client = await connect(server.urlFor(database));
    try {
      let rows: object[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows as never[];
    } finally {
      await client.end();
    }
  };
  if (tls) {
    // The server reads a key that nobody but itself can read.
    const { uid, gid } = statSync(server.dataDir);
    for (const [name, text] of [['server.crt', tls.certificate] as const, ['server.key', tls.key] as const]) {
      const file = join(server.dataDir, name);
      writeFileSync(file, text, { mode: 0o600 });
      chownSync(file, uid, gid);
    }
    await sql('postgres', 'ALTER SYSTEM SET ssl = on', 'SELECT pg_reload_conf()');
  }
  await sql(
    'postgres',
    `CREATE ROLE admin LOGIN CREATEDB CREATEROLE NOSUPERUSER PASSWORD ${pg.escapeLiteral(admin.password)}`,
  );
  return {
    port: server.port,
    admin,
    url: (database, login) => server.urlFor(database, login),
    sql,
    log: () => lines.join('\n'),
    wipe: () => wipe(sql),
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function wipe(sql: TestServer['sql']): Promise<void> {
  const databases = await sql<{ name: string }>(
    'postgres',
    "SELECT datname AS name FROM pg_database WHERE datname NOT IN ('postgres', 'template0', 'template1')",
  );
  for (const { name } of databases) {
    await sql('postgres', `DROP DATABASE ${pg.escapeIdentifier(name)} WITH (FORCE)`);
  }
  const roles = await sql<{ name: string }>(
    'postgres',
    "SELECT rolname AS name FROM pg_roles WHERE rolname !~ '^pg_' AND rolname NOT IN ('admin', current_user)",
  );
  for (const { name } of roles) {
    const role = pg.escapeIdentifier(name);
    await sql('postgres', `DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`);
  }
}
