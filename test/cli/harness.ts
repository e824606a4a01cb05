import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** Signed with a time, signed without one, and not signed at all; a lease of seconds where it matters. */
export const CONFIG = `project: trial
sources:
  bank:
    provider: stripe
    secrets: [BANK_SECRET]
  shop:
    provider: custom
    secrets: [SHOP_SECRET]
    lease: 2s
    max_attempts: 3
  door:
    provider: yookassa
`;

/** A folder with a configuration, removed by the caller. */
export function makeFolder(config: string | undefined = CONFIG): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncehook-cli-'));
  if (config !== '') writeFileSync(join(folder, 'oncehook.yaml'), config);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Piped into standard input; without it there is none. */
  input?: string;
  uid?: number;
}

export interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the CLI to its end, as a shell would: from its sources, in a folder. */
export async function run(args: string[], options: RunOptions): Promise<Result> {
  const child = start(args, options);
  child.stdin?.end(options.input ?? '');
  const [stdout, stderr, status] = await Promise.all([read(child.stdout), read(child.stderr), endOf(child)]);
  return { status, stdout, stderr };
}

/** What every program here is started with; compiled sources are kept, for they are the half of a short run. */
const surroundings = {
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  NODE_COMPILE_CACHE: join(tmpdir(), 'oncehook-test-compile-cache'),
};

export function start(args: string[], { cwd, env = {}, input, uid }: RunOptions): ChildProcess {
  return spawn(process.execPath, [main, ...args], {
    cwd,
    env: { ...surroundings, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}

export function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((done) => child.once('close', (code) => done(code)));
}

async function read(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}

/** What the first line of `dev --json` tells, as far as tests look at it. */
export interface Report {
  ok: boolean;
  proof: {
    source: string;
    ok: boolean;
    steps: { what: string; outcome: string; code: number | null; ok: boolean }[];
  };
  secrets: { name: string; from: string }[];
  database: { migrations: { pending: string[] }; sources: unknown[] };
  workflows: { files: { path: string; state: string }[] };
  credential: { port: number; user: string; file: string; changed: string[] };
}

/** A running `oncehook dev --json`. */
export interface Dev {
  child: ChildProcess;
  report: Report;
  stderr(): string;
  /** Waits for a line of a delivery. */
  line(matches: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  ended: Promise<number | null>;
}

/**
 * Starts `oncehook dev` and resolves once it is up; rejects with what it wrote where it ends before. What is left of
 * it is killed when the test ends, unless `keep` says that the caller stops it.
 */
export async function startDev(args: string[], options: RunOptions & { keep?: boolean }): Promise<Dev> {
  const child = start(['dev', '--json', ...args], options);
  const ended = endOf(child);
  const errors: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const lines: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as Record<string, unknown>));
    for (const look of waiting) look();
  });
  if (!options.keep) onTestFinished(() => void child.kill('SIGKILL'));
  const line = (matches: (line: Record<string, unknown>) => boolean) =>
    new Promise<Record<string, unknown>>((done, fail) => {
      const look = () => {
        const found = lines.find(matches);
        if (!found) return;
        waiting.delete(look);
        done(found);
      };
      waiting.add(look);
      look();
      void ended.then(() => fail(new Error(`dev ended: ${errors.join('')}`)));
    });
  const report = (await line((value) => 'proof' in value || 'error' in value)) as unknown as Report;
  const stop = (signal: NodeJS.Signals = 'SIGINT') => {
    child.kill(signal);
    return ended;
  };
  return { child, report, stderr: () => errors.join(''), line, stop, ended };
}

/** The process id of the folder's Postgres, as its own file says; undefined where it has ended. */
export function postmaster(folder: string): number | undefined {
  try {
    const pid = Number(
      readFileSync(join(folder, '.oncehook/postgres/postmaster.pid'), 'utf8').split('\n')[0],
    );
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** Waits until something holds, looking again and again; fails after half a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It never came to be: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
