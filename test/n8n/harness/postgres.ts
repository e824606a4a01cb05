import { join } from 'node:path';
import pg from 'pg';
import { startServer } from '../../../src/ledger/embedded/server.ts';
import type { PostgresLogin } from '../../../src/n8n/credentials.ts';

/** A Postgres server of the tests' own. */
export interface Postgres {
  port: number;
  /** The superuser's connection URL for a database. */
  urlFor(database: string): string;
  stop(): Promise<void>;
}

/** Starts the embedded Postgres that the package brings, its data under `folder`. */
export async function startPostgres(folder: string, port?: number): Promise<Postgres> {
  const server = await startServer({
    dataDir: join(folder, 'postgres'),
    durable: false,
    settings: { max_connections: '300', fsync: 'off' },
    ...(port ? { port } : {}),
  });
  return {
    port: server.port,
    urlFor: (database) => server.urlFor(database),
    stop: () => server.stop(),
  };
}

/** Makes an empty database on the server of a superuser's URL, and gives the URL for it. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await query(serverUrl, `CREATE DATABASE "${name}"`);
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** One statement over a connection of its own; the rows. */
export async function query<Row extends object>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** A connection URL as what n8n's Postgres credential wants to know. */
export function loginOf(url: string): PostgresLogin {
  const { hostname, port, pathname, username, password } = new URL(url);
  return {
    host: hostname,
    port: Number(port),
    database: decodeURIComponent(pathname.slice(1)),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ssl: 'disable',
    maxConnections: 20,
  };
}
