import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A finished run of the CLI. */
export interface Ran {
  code: number | null;
  /** Both streams, in the order in which they came. */
  output: string;
  stdout: string;
  /** Milliseconds. */
  took: number;
}

/** A run of the CLI that has not ended. */
export interface Running {
  child: ChildProcess;
  ended: Promise<Ran>;
  /** Kills it with everything that it started, as a crash of the machine would. */
  kill(): Promise<Ran>;
}

/** Starts the CLI; `input` is what it reads where it asks. */
export function start(
  program: string,
  args: readonly string[],
  { input = '', ...options }: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
): Running {
  const began = Date.now();
  const child = spawn(program, args, { ...options, stdio: 'pipe' });
  // It may end before it has read all.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let output = '';
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = once(child, 'close').then(
    ([code]): Ran => ({ code: code as number | null, output, stdout, took: Date.now() - began }),
  );
  return {
    child,
    ended,
    kill() {
      // Plugins have process groups of their own, and some of them outlive an engine that tells them nothing.
      const family = child.pid ? [child.pid, ...descendants(child.pid)] : [];
      for (const pid of family) killNow(pid);
      return ended;
    },
  };
}

function descendants(pid: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    pairs.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
