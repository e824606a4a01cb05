import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';

/** A running program in a process group of its own, its output going to a log file. */
export interface Running {
  pid: number;
  /** Resolves when the program itself has ended. */
  ended: Promise<void>;
  /** Resolves when `pattern` was written; rejects when the program ends first, or after `timeout` ms. */
  wrote(pattern: RegExp, timeout: number): Promise<void>;
  /** Sends a signal to the program and all that it started. */
  signal(name: NodeJS.Signals): void;
}

export function start(program: string, args: string[], env: NodeJS.ProcessEnv, log: string): Running {
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} could not be started`);
  const file = createWriteStream(log, { flags: 'a' });
  const seen = collect(child, file);
  const signal = (name: NodeJS.Signals) => signalGroup(pid, name);
  // A test run that ends must not leave an n8n behind.
  const abandon = () => signal('SIGKILL');
  process.once('exit', abandon);
  const ended = new Promise<void>((done) => {
    child.once('exit', () => {
      process.off('exit', abandon);
      file.end();
      done();
    });
  });
  return { pid, ended, signal, wrote: (pattern, timeout) => wrote(pattern, timeout, seen, ended, log) };
}

interface Seen {
  text: string;
  changed: (() => void) | undefined;
}

function collect(child: ChildProcess, file: NodeJS.WritableStream): Seen {
  const seen: Seen = { text: '', changed: undefined };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      file.write(chunk);
      seen.text += chunk.toString();
      seen.changed?.();
    });
  }
  return seen;
}

async function wrote(pattern: RegExp, timeout: number, seen: Seen, ended: Promise<void>, log: string) {
  const failed = (why: string) => new Error(`${why}; the log is ${log} and ends with:\n${tail(log)}`);
  await new Promise<void>((done, fail) => {
    const timer = setTimeout(() => fail(failed(`Nothing like ${pattern} within ${timeout} ms`)), timeout);
    const look = () => {
      if (!pattern.test(seen.text)) return;
      clearTimeout(timer);
      seen.changed = undefined;
      done();
    };
    seen.changed = look;
    look();
    ended.then(() => {
      clearTimeout(timer);
      fail(failed('The program ended'));
    });
  });
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The last lines of a log. */
export function tail(log: string, lines = 30): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}
