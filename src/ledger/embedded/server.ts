import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Bug } from '../../errors.ts';
import { type Binaries, findBinaries, type PostgresVersion } from './binaries.ts';
import { ensureDataFolder, readPassword } from './data-folder.ts';
import { explainFileError } from './failures.ts';
import { createLauncher } from './launcher.ts';
import { stopLeftServer } from './left-server.ts';
import { type Postmaster, startPostmaster } from './postmaster.ts';
import { signal } from './processes.ts';
import { canonical, removeStalePidFile, serverUrl } from './running.ts';

export { findServer, type RunningServer, serverUrl } from './running.ts';

export interface ServerOptions {
  /** Made on first use, with its parent folders. */
  dataDir: string;
  /** On 127.0.0.1; a free one where left out. */
  port?: number;
  /** 18 where left out. */
  version?: PostgresVersion;
  /** Server settings by name, e.g. `{ max_connections: '200' }`. */
  settings?: Record<string, string>;
  /** False: initdb does not wait for the disk (for data that is thrown away). */
  durable?: boolean;
  /** Gets every line of the server's log. */
  onLog?: (line: string) => void;
}

/** A server that this process started and must stop. */
export interface Server {
  port: number;
  /** The postmaster's process id. */
  pid: number;
  version: PostgresVersion;
  /** Absolute. */
  dataDir: string;
  /** A connection URL: as superuser, or as `user` with `password`. */
  urlFor(database: string, login?: { user: string; password?: string }): string;
  /** Fast shutdown: ends every connection, writes a checkpoint, resolves when the process has ended. */
  stop(): Promise<void>;
  /** Resolves when the server has ended, whoever ended it. */
  ended: Promise<void>;
}

const STOP_TIMEOUT_MS = 60_000;

/**
 * Starts an embedded Postgres on 127.0.0.1, without a Unix socket; makes its data folder on first use.
 * Resolves once it accepts connections. A server that a killed run left on the folder is stopped first.
 *
 * Throws UserError: another Oncehook looks after a server on this folder, the port is taken, the folder
 * cannot be written, is full or of another version, or no embedded Postgres can run here.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const binaries = findBinaries(options.version ?? 18);
  const dataDir = await prepareParent(options.dataDir);
  await stopLeftServer(dataDir);
  const launcher = await createLauncher(binaries, dataDir, dirname(dataDir));
  await ensureDataFolder(dataDir, binaries, launcher, options.durable ?? true);
  const password = await readPassword(dataDir);
  if (password === undefined) throw new Bug(`No password in ${dataDir}`);
  await removeStalePidFile(dataDir);
  const { port, settings, onLog } = options;
  const postmaster = await startPostmaster({ dataDir, port, password, settings, onLog }, binaries, launcher);
  return {
    port: postmaster.port,
    pid: postmaster.pid,
    version: binaries.version,
    dataDir,
    urlFor: (database, login) => serverUrl({ port: postmaster.port, password }, database, login),
    stop: stopper(postmaster, dataDir, binaries),
    ended: postmaster.ended,
  };
}

async function prepareParent(folder: string): Promise<string> {
  const wanted = resolve(folder);
  try {
    await mkdir(dirname(wanted), { recursive: true });
    return await canonical(wanted);
  } catch (error) {
    throw explainFileError(error, wanted, 'Postgres could not make its data folder');
  }
}

function stopper(
  { pid, ownership, ended }: Postmaster,
  dataDir: string,
  binaries: Binaries,
): () => Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
    return ownership.release();
  });
  return async () => {
    await ownership.release();
    if (over) return;
    if (process.platform === 'win32') await stopByProgram(binaries, dataDir);
    else signal(pid, 'SIGINT');
    const late = pause(STOP_TIMEOUT_MS, true, { ref: false });
    if (await Promise.race([ended, late])) {
      signal(pid, 'SIGQUIT'); // immediate shutdown: the next start recovers from the log
      await ended;
    }
  };
}

/** Windows has no SIGINT for another process. */
function stopByProgram(binaries: Binaries, dataDir: string): Promise<void> {
  return new Promise((done) => {
    execFile(binaries.pgCtl, ['stop', '-D', dataDir, '-m', 'fast', '-w'], () => done());
  });
}
