import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What `serve.ts` prints. */
export interface Served {
  pid: number;
  port: number;
  url: string;
  error?: { name: string; message: string };
}

export interface ServeProcess {
  child: ChildProcess;
  /** Its one line; rejects where it ended without. */
  served: Promise<Served>;
  /** Sends the signal and waits for its end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Another process that looks after a server: to be killed, signalled, or started as another user. */
export function serve(
  dataDir: string,
  options: {
    script?: string;
    port?: number;
    uid?: number;
    command?: readonly string[];
    detached?: boolean;
  } = {},
): ServeProcess {
  const script = options.script ?? fileURLToPath(new URL('serve.ts', import.meta.url));
  const port = options.port === undefined ? [] : [String(options.port)];
  const [program = '', ...args] = [...(options.command ?? []), process.execPath, script, dataDir, ...port];
  const ids = options.uid === undefined ? {} : { uid: options.uid, gid: options.uid };
  const child = spawn(program, args, {
    ...ids,
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    detached: options.detached ?? false,
  });
  const over = once(child, 'exit');
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const served = new Promise<Served>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line) as Served));
    child.once('error', reject);
    child.once('close', () => reject(new Error(`The process ended: ${complaint}`)));
  });
  return {
    child,
    served,
    async end(signal) {
      child.kill(signal);
      await over;
    },
  };
}
