import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { UserError } from '../../errors.ts';
import type { Binaries } from './binaries.ts';
import { OWN_DATABASE } from './failures.ts';

const run = promisify(execFile);

/** Starts the programs of Postgres as a user that may run them: Postgres refuses to run as root. */
export interface Launcher {
  /** Who owns the data folder; undefined where that is simply the user of this process. */
  owner: { uid: number; gid: number } | undefined;
  spawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess;
}

/** The environment of every Postgres program: nothing of PGDATA, PGPORT and the like, and English messages. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LD_LIBRARY_PATH'];
  const own = Object.entries(process.env).filter(([name]) => kept.includes(name));
  return { ...Object.fromEntries(own), LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Decides as whom Postgres runs. `parent` is the folder that holds the data folder, `dataDir` the data
 * folder itself, which need not exist.
 *
 * For root: the owner of the data folder where there is one already, else the user `postgres`, else
 * `nobody`. Where that user cannot reach the programs or the folder (a clone below /root), it is given the
 * Linux capability to pass by file modes, by util-linux's `setpriv`; what works is found out by trying.
 *
 * Throws UserError where no way works.
 */
export async function createLauncher(binaries: Binaries, dataDir: string, parent: string): Promise<Launcher> {
  if (process.getuid?.() !== 0) {
    const plain = startAs(undefined, []);
    const refusal = await refusalOf(plain, binaries, parent);
    if (refusal) throw cannotRun(binaries, refusal);
    return plain;
  }
  const owner = ownerOf(dataDir) ?? (await idsOf('postgres')) ?? (await idsOf('nobody'));
  if (!owner) {
    throw new UserError({
      message: 'Postgres does not run as root, and there is neither a user postgres nor a user nobody.',
      remedy: `Run Oncehook as an ordinary user, or ${OWN_DATABASE}.`,
    });
  }
  const refusals: string[] = [];
  for (const capabilities of capabilitySets()) {
    const candidate = startAs(owner, capabilities);
    const refusal = await refusalOf(candidate, binaries, parent);
    if (!refusal) return candidate;
    refusals.push(refusal);
  }
  throw new UserError({
    message: `Postgres does not run as root, and user ${owner.uid} cannot reach ${binaries.postgres} and ${parent} (${refusals[0]}).`,
    remedy: `Run Oncehook as an ordinary user, move the folder to where every user may enter (such as /opt or /srv), or ${OWN_DATABASE}.`,
  });
}

/** From no privilege to the widest that may be needed, as far as this process holds them. */
function capabilitySets(): string[][] {
  if (process.platform !== 'linux') return [[]];
  const permitted = /^CapPrm:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const holds = (bit: bigint) => (BigInt(`0x${permitted}`) >> bit) % 2n === 1n;
  const sets: string[][] = [[]];
  // Reading and entering folders is enough where the files may be executed by everyone.
  if (holds(2n)) sets.push(['dac_read_search']);
  // A container of Docker holds this one alone; a umask of 077 needs it too.
  if (holds(1n)) sets.push(['dac_override']);
  return sets;
}

function startAs(owner: Launcher['owner'], capabilities: readonly string[]): Launcher {
  if (!owner || capabilities.length === 0) {
    const ids = owner ?? {};
    return { owner, spawn: (program, args, options) => spawn(program, args, { ...options, ...ids }) };
  }
  const raised = capabilities.map((name) => `+${name}`).join(',');
  const prefix = [
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    // Without it access(2), by which Postgres looks for its own programs, ignores the capabilities.
    '--securebits=+no_setuid_fixup',
    `--inh-caps=${raised}`,
    `--ambient-caps=${raised}`,
  ];
  return {
    owner,
    // setpriv replaces itself by the program, so the child's pid is the server's.
    spawn: (program, args, options) => spawn('setpriv', [...prefix, program, ...args], options),
  };
}

/** Why a launcher cannot work, or undefined: runs a program and enters the folder as the user in question. */
async function refusalOf(
  launcher: Launcher,
  binaries: Binaries,
  parent: string,
): Promise<string | undefined> {
  // Prints where it finds its files, and does nothing else.
  const program = await outcome(launcher, binaries.initdb, ['--show', `--pgdata=${parent}`], '/');
  if (program || process.platform === 'win32') return program;
  return outcome(launcher, '/bin/sh', ['-c', 'cd "$0"', parent], '/');
}

function outcome(
  launcher: Launcher,
  program: string,
  args: string[],
  cwd: string,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options: SpawnOptions = { stdio: ['ignore', 'ignore', 'pipe'], env: serverEnvironment() };
    let child: ChildProcess;
    try {
      child = launcher.spawn(program, args, process.platform === 'win32' ? options : { ...options, cwd });
    } catch (error) {
      resolve((error as Error).message);
      return;
    }
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) =>
      resolve(code === 0 ? undefined : complaint.trim() || `exit status ${code}`),
    );
  });
}

function cannotRun(binaries: Binaries, refusal: string): UserError {
  return new UserError({
    message: `The embedded Postgres ${binaries.version} cannot run here (${refusal}).`,
    remedy: `It needs a system with glibc (not Alpine) and a folder that this user may enter. Or ${OWN_DATABASE}.`,
  });
}

function ownerOf(folder: string): Launcher['owner'] {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

async function idsOf(user: string): Promise<Launcher['owner']> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined; // no such user
  }
}
