import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { Settings } from './settings.ts';

/** What runs statements: a connection of its own for each, or a transaction. */
export interface Runner {
  query(sql: string, values?: unknown[]): Promise<pg.QueryResult>;
}

/** A transaction; whatever happens, `rollback` must be called (it does nothing after `commit`). */
export interface Transaction extends Runner {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** One database of the server, as the real plugin holds it: no idle connections, at most `maxConnections`. */
export interface Database extends Runner {
  settings: Settings;
  name: string;
  /** The server's major version. */
  major: number;
  /** In this database, or in another one of the same server. */
  begin(database?: string): Promise<Transaction>;
}

const open = new Map<string, Promise<Database>>();
let queue: Promise<unknown> = Promise.resolve();

/** The first connection to a database is tried while everybody else waits, as in the real plugin. */
export function connect(settings: Settings, name: string = settings.database): Promise<Database> {
  const key = JSON.stringify([settings, name]);
  const known = open.get(key);
  if (known) return known;
  const made = queue.then(() => open.get(key) ?? openDatabase(settings, name));
  queue = made.catch(() => {});
  return made.then((database) => {
    open.set(key, Promise.resolve(database));
    return database;
  });
}

async function openDatabase(settings: Settings, name: string): Promise<Database> {
  const pool = new pg.Pool({
    host: settings.host,
    port: settings.port,
    user: settings.username,
    password: settings.password,
    database: name,
    ssl: tls(settings),
    connectionTimeoutMillis: settings.connectTimeout * 1000,
    application_name: 'Terraform provider',
    max: settings.maxConnections || Number.MAX_SAFE_INTEGER,
  });
  pool.on('error', () => {});
  const query: Runner['query'] = async (sql, values) => {
    const client = await pool
      .connect()
      .catch((error: Error) => Promise.reject(connectError(settings, error)));
    try {
      return await run(client, sql, values);
    } finally {
      client.release(true);
    }
  };
  const { rows } = await query('SELECT current_setting($1)::int / 10000 AS major', ['server_version_num']);
  return {
    settings,
    name,
    major: rows[0].major as number,
    query,
    async begin(database) {
      if (database && database !== name) return (await connect(settings, database)).begin();
      return begin(
        await pool.connect().catch((error: Error) => Promise.reject(connectError(settings, error))),
      );
    },
  };
}

async function begin(client: pg.PoolClient): Promise<Transaction> {
  let over = false;
  const end = async (statement: string): Promise<void> => {
    if (over) return;
    over = true;
    await client.query(statement).finally(() => client.release(true));
  };
  await client.query('BEGIN');
  return {
    query: (sql, values) => run(client, sql, values),
    commit: () => end('COMMIT'),
    rollback: () => end('ROLLBACK'),
  };
}

async function run(client: pg.PoolClient, sql: string, values?: unknown[]): Promise<pg.QueryResult> {
  try {
    return await client.query(sql, values);
  } catch (error) {
    const { code, message } = error as pg.DatabaseError;
    throw new Error(`pq: ${message} (${code})`);
  }
}

/** lib/pq's reading of `sslmode`. */
function tls({ sslmode, sslrootcert, host }: Settings): ConnectionOptions | false {
  if (sslmode === 'disable') return false;
  const ca = sslrootcert ? { ca: readFileSync(sslrootcert, 'utf8') } : {};
  if (sslmode === 'require' && !sslrootcert) return { rejectUnauthorized: false };
  if (sslmode === 'verify-full') return { ...ca, servername: host };
  return { ...ca, checkServerIdentity: () => undefined };
}

/** The real plugin's words, without the password. */
function connectError({ host, port, password }: Settings, error: Error): Error {
  const { code, message } = error as pg.DatabaseError;
  const cause =
    code === 'ECONNREFUSED'
      ? `dial tcp ${host}:${port}: connect: connection refused`
      : /timeout/i.test(message)
        ? `dial tcp ${host}:${port}: i/o timeout`
        : /does not support SSL/.test(message)
          ? 'pq: SSL is not enabled on the server'
          : code?.length === 5
            ? `pq: ${message} (${code})`
            : message;
  const safe = password ? cause.replaceAll(password, 'XXXX') : cause;
  return new Error(`error connecting to PostgreSQL server ${host} (scheme: postgres): ${safe}`);
}
