import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '../../errors.ts';
import { explainFileError } from './failures.ts';
import { markOf } from './ownership.ts';
import { isAlive, isServerOf, signal } from './processes.ts';
import { findServer, readPidFile } from './running.ts';

/** How long a server may take to start, recover or shut down before we give up on it. */
const PATIENCE_MS = 120_000;
/** A server bears no mark for a moment after it began to accept connections, and after a backend crashed. */
const UNMARKED_MS = 2_000;

/**
 * Stops the server that a killed run left on a data folder, and waits until it has ended.
 *
 * Throws UserError: another process looks after it, it neither answers nor ends, the folder may not be read.
 */
export async function stopLeftServer(dataDir: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let unmarkedSince: number | undefined;
  for (;;) {
    const left = await readPidFile(dataDir).catch((error: unknown) => {
      throw explainFileError(error, dataDir, 'Postgres could not start');
    });
    if (!left || !isAlive(left.pid) || !(await isServerOf(left.pid, dataDir))) return;
    if (Date.now() > deadline) throw stuck(dataDir, left.pid);
    const server = await findServer(dataDir);
    const mark = server && (await markOf(server).catch(() => undefined)); // it may stop meanwhile
    if (server && mark?.owner !== undefined) throw alreadyRunning(dataDir, mark.owner, server.port);
    if (server && mark) {
      unmarkedSince ??= Date.now();
      if (Date.now() - unmarkedSince > UNMARKED_MS) signal(server.pid, 'SIGINT'); // fast shutdown
    }
    await pause(100);
  }
}

function alreadyRunning(dataDir: string, owner: number, port: number): UserError {
  return new UserError({
    message: `Another Oncehook (process ${owner}) already runs Postgres on ${dataDir}, at port ${port}.`,
    remedy: `Use that one, or stop it first (Ctrl-C in its terminal, or kill ${owner}).`,
  });
}

function stuck(dataDir: string, pid: number): UserError {
  return new UserError({
    message: `A Postgres of an earlier run (process ${pid}) still holds ${dataDir}; it neither answers nor ends.`,
    remedy: `End it (kill ${pid}) and start again.`,
  });
}
