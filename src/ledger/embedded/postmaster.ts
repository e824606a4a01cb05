import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { explainFailure } from './failures.ts';
import { type Launcher, serverEnvironment } from './launcher.ts';
import { stopLeftServer } from './left-server.ts';
import { holdOwnership, type Ownership } from './ownership.ts';
import { readPidFile } from './running.ts';

export interface PostmasterOptions {
  dataDir: string;
  /** A free one where undefined. */
  port: number | undefined;
  /** The superuser's. */
  password: string;
  settings: Record<string, string> | undefined;
  onLog: ((line: string) => void) | undefined;
}

/** A server process that accepts connections and bears our mark. */
export interface Postmaster {
  pid: number;
  port: number;
  ownership: Ownership;
  /** Resolves when the process has ended. */
  ended: Promise<void>;
}

/** Recovery after a crash is part of it. */
const START_TIMEOUT_MS = 120_000;

/** Starts the server process; resolves once it has accepted a connection. Throws UserError where it ends before. */
export async function startPostmaster(
  options: PostmasterOptions,
  binaries: Binaries,
  launcher: Launcher,
): Promise<Postmaster> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const port = options.port ?? (await freePort());
    const attempt = launch(options, port, binaries, launcher);
    const ownership = await acceptance(attempt, port, options, deadline);
    const { child, ended } = attempt;
    if (ownership && child.pid) return { pid: child.pid, port, ownership, ended };
    const log = attempt.log();
    const transient =
      // The children of a killed server need a moment to notice; or another start was faster.
      /pre-existing shared memory block|lock file "postmaster\.pid" already exists/.test(log) ||
      // Somebody else took the port that was free.
      (options.port === undefined && /Address already in use/.test(log));
    if (!transient || Date.now() > deadline) {
      throw explainFailure({ dataDir: options.dataDir, port, log, action: 'Postgres could not start' });
    }
    await pause(200);
    await stopLeftServer(options.dataDir);
  }
}

interface Attempt {
  child: ChildProcess;
  ended: Promise<void>;
  /** The last lines that the process wrote. */
  log(): string;
}

function launch(options: PostmasterOptions, port: number, binaries: Binaries, launcher: Launcher): Attempt {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    lc_messages: 'C',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = launcher.spawn(binaries.postgres, ['-D', options.dataDir, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: serverEnvironment(),
    // A group of its own: a terminal's Ctrl-C must reach us, who then stop the server, and not the server itself.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const lines: string[] = [];
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      if (lines.length > 40) lines.shift();
      options.onLog?.(line);
    }
  });
  let failure = '';
  const ended = new Promise<void>((done) => {
    child.once('error', (error) => {
      failure = error.message;
      done();
    });
    // Not `exit`: what the process wrote last must have been read. A child of a killed server keeps the pipe open.
    child.once('close', () => done());
    child.once('exit', () => setTimeout(done, 1_000).unref());
  });
  // Whatever ends this process, from the first moment on (process.exit, an uncaught exception), ends the server too:
  // fast shutdown. A handler of `exit` swallows no signal.
  const abandon = () => child.kill('SIGINT');
  process.once('exit', abandon);
  void ended.then(() => process.off('exit', abandon));
  return { child, ended, log: () => [...lines, rest, failure].join('\n') };
}

/** Our mark on the server once it accepts connections; undefined where the process ended before. */
async function acceptance(
  attempt: Attempt,
  port: number,
  options: PostmasterOptions,
  deadline: number,
): Promise<Ownership | undefined> {
  let over = false;
  const ended = attempt.ended.then(() => {
    over = true;
  });
  while (!over) {
    // Only the server itself may be spoken to: behind the port there could be another program.
    const holder = await readPidFile(options.dataDir).catch(() => undefined);
    if (holder?.listens && holder.pid === attempt.child.pid) {
      const ownership = await holdOwnership({ port, password: options.password }).catch(() => undefined);
      if (ownership) return ownership;
    }
    if (Date.now() > deadline) {
      attempt.child.kill('SIGINT');
      await ended;
      return undefined;
    }
    await Promise.race([ended, pause(50)]);
  }
  return undefined;
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
