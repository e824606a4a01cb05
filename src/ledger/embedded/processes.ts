import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether a process of that id runs, whoever owns it. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(pid);
}

/** An ended process that its parent has not asked about: in a container without an init it stays for good. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false; // ended meanwhile, or hidden: the next look will tell
  }
}

/** Sends a signal to a process, which may have ended meanwhile. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether the process was started as a server of this data folder, by its command line. */
export async function isServerOf(pid: number, dataDir: string): Promise<boolean> {
  if (process.platform === 'win32') return true; // no way to tell: leave it to Postgres
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(dataDir);
    }
    return (await run('ps', ['-p', String(pid), '-o', 'command='])).stdout.includes(dataDir);
  } catch {
    return isAlive(pid);
  }
}
