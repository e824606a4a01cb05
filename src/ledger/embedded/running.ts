import { readFile, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { readPassword, SUPERUSER } from './data-folder.ts';
import { isAlive, isServerOf } from './processes.ts';

/** What a running server of a data folder is known by. */
export interface RunningServer {
  /** The postmaster's process id. */
  pid: number;
  port: number;
  /** The superuser's. */
  password: string;
}

/**
 * The server that runs on a data folder and answers, or undefined. For verbs that use a server which
 * another process started, and for finding what a killed run left.
 *
 * Throws UserError where the folder may not be read.
 */
export async function findServer(dataDir: string): Promise<RunningServer | undefined> {
  const folder = await canonical(dataDir);
  const password = await readPassword(folder);
  const found = password === undefined ? undefined : await readPidFile(folder);
  if (!found?.listens || !password || !isAlive(found.pid)) return undefined;
  const server = { pid: found.pid, port: found.port, password };
  try {
    const client = await connectTo(server, 'oncehook');
    try {
      const { rows } = await client.query<{ folder: string }>(
        "SELECT current_setting('data_directory') AS folder",
      );
      return rows[0]?.folder === folder ? server : undefined;
    } finally {
      await client.end();
    }
  } catch {
    return undefined; // refused, starting up, or another server behind that port
  }
}

/** The URL of a server that is known by its port and password; the superuser's where no login is given. */
export function serverUrl(
  server: Pick<RunningServer, 'port' | 'password'>,
  database: string,
  login?: { user: string; password?: string },
): string {
  const user = login ? login.user : SUPERUSER;
  const password = login ? login.password : server.password;
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
  return `postgresql://${encodeURIComponent(user)}${secret}@127.0.0.1:${server.port}/${encodeURIComponent(database)}`;
}

/** A folder's name without symbolic links above it, as the server is told and as it reports it. */
export async function canonical(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  const parent = await realpath(dirname(wanted)).catch(() => dirname(wanted));
  return join(parent, basename(wanted));
}

/** A postmaster.pid. */
export interface PidFile {
  pid: number;
  port: number;
  /** Whether the port is the server's; before, another program may be behind it. */
  listens: boolean;
}

/** What the postmaster wrote about itself: https://www.postgresql.org/docs/current/storage-file-layout.html. */
export async function readPidFile(dataDir: string): Promise<PidFile | undefined> {
  try {
    const lines = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3] ?? 0), listens: Boolean(lines[5]?.trim()) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A connection as superuser to the database `postgres`; rejects with node-postgres's own error. */
export async function connectTo(server: Omit<RunningServer, 'pid'>, name: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: server.port,
    user: SUPERUSER,
    password: server.password,
    database: 'postgres',
    application_name: name,
    connectionTimeoutMillis: 10_000,
  });
  // A server that ends closes its connections, and an error that nobody hears would end this process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
}

/**
 * Removes a postmaster.pid whose process id is no server of this folder. Postgres does so itself where the
 * id is free; where it now belongs to another program of the same user (a restarted container), or to an
 * ended process that nobody collected, Postgres takes it for a server and refuses to start.
 */
export async function removeStalePidFile(dataDir: string): Promise<void> {
  const found = await readPidFile(dataDir);
  if (found && !(isAlive(found.pid) && (await isServerOf(found.pid, dataDir)))) {
    await rm(join(dataDir, 'postmaster.pid'), { force: true });
  }
}
