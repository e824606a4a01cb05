import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Bug, UserError } from '../../errors.ts';
import type { Binaries } from './binaries.ts';
import { explainFailure, explainFileError } from './failures.ts';
import { type Launcher, serverEnvironment } from './launcher.ts';
import { isAlive } from './processes.ts';

/** The superuser of an embedded server. */
export const SUPERUSER = 'postgres';
/** Inside the data folder, so that folder and password come and go together. */
const PASSWORD_FILE = 'oncehook.password';

/** The password of the superuser, or undefined where the folder is not a data folder of Oncehook. */
export async function readPassword(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, PASSWORD_FILE), 'utf8')).trim();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw explainFileError(error, dataDir, 'Postgres could not start');
  }
}

/**
 * Makes sure that `dataDir` holds a database cluster of the right version; makes one where there is none.
 * It is made in a temporary folder beside it and renamed, so that an interrupted initdb leaves nothing
 * half-made, and of two processes that begin at once one wins and both go on.
 *
 * Throws UserError: the folder holds something else, another version, or cannot be written.
 */
export async function ensureDataFolder(
  dataDir: string,
  binaries: Binaries,
  launcher: Launcher,
  durable: boolean,
): Promise<void> {
  try {
    if (await isUsable(dataDir, binaries)) return;
    await initialise(dataDir, binaries, launcher, durable);
    if (!(await isUsable(dataDir, binaries))) throw new Bug(`${dataDir} is still empty after initdb`);
  } catch (error) {
    throw explainFileError(error, dataDir, 'Postgres could not make its data folder');
  }
}

/** True: a cluster of this version. False: nothing there yet. */
async function isUsable(dataDir: string, binaries: Binaries): Promise<boolean> {
  const entries: string[] = await readdir(dataDir).catch((error: unknown): string[] => {
    if (isMissing(error)) return [];
    throw error;
  });
  if (entries.length === 0) return false;
  if (!entries.includes('PG_VERSION') || !entries.includes(PASSWORD_FILE)) {
    throw new UserError({
      message: `${dataDir} exists but is not a data folder that Oncehook made.`,
      remedy: 'Move it away, or name another folder.',
    });
  }
  const version = (await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).trim();
  if (version !== String(binaries.version)) {
    throw new UserError({
      message: `${dataDir} was made by Postgres ${version}; this Oncehook brings Postgres ${binaries.version}.`,
      remedy: `Move the folder away to begin with an empty database. To keep its data, dump it with the Oncehook that made it (pg_dump), and restore the dump into the new one.`,
    });
  }
  return true;
}

async function initialise(
  dataDir: string,
  binaries: Binaries,
  launcher: Launcher,
  durable: boolean,
): Promise<void> {
  await removeLeftovers(dataDir);
  const temporary = await mkdtemp(`${dataDir}.new-${process.pid}-`);
  try {
    const fresh = join(temporary, 'data');
    const passwordFile = join(temporary, 'password');
    const password = randomBytes(24).toString('base64url');
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    await mkdir(fresh, { mode: 0o700 });
    if (launcher.owner) {
      const { uid, gid } = launcher.owner;
      for (const path of [temporary, passwordFile, fresh]) await chown(path, uid, gid);
    }
    await runInitdb(dataDir, fresh, passwordFile, binaries, launcher, durable);
    const kept = join(fresh, PASSWORD_FILE);
    await writeFile(kept, `${password}\n`, { mode: 0o600 });
    await chmod(kept, 0o600);
    if (launcher.owner) await chown(kept, launcher.owner.uid, launcher.owner.gid);
    await moveInto(fresh, dataDir);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function runInitdb(
  dataDir: string,
  fresh: string,
  passwordFile: string,
  binaries: Binaries,
  launcher: Launcher,
  durable: boolean,
): Promise<void> {
  const args = [
    `--pgdata=${fresh}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    '--auth-host=scram-sha-256',
    '--auth-local=scram-sha-256',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  return new Promise((resolve, reject) => {
    const child = launcher.spawn(binaries.initdb, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: serverEnvironment(),
      cwd: dirname(fresh),
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    // A process that ends must not leave an initdb that works on in a folder that nobody will use.
    const abandon = () => child.kill('SIGTERM');
    process.once('exit', abandon);
    let log = '';
    const collect = (chunk: Buffer) => {
      log += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', abandon);
      if (code === 0) resolve();
      else reject(explainFailure({ dataDir, log, action: 'Postgres could not make its data folder' }));
    });
  });
}

async function moveInto(fresh: string, dataDir: string): Promise<void> {
  try {
    await rmdir(dataDir);
  } catch (error) {
    if (!isMissing(error) && !isNotEmpty(error)) throw error;
  }
  try {
    await rename(fresh, dataDir);
  } catch (error) {
    // Another process was faster: its cluster is as good as ours.
    if (!isNotEmpty(error)) throw error;
  }
}

/** Removes what killed runs left; a folder whose process still lives is that process's to remove. */
async function removeLeftovers(dataDir: string): Promise<void> {
  const prefix = `${basename(dataDir)}.new-`;
  for (const entry of await readdir(dirname(dataDir))) {
    if (!entry.startsWith(prefix)) continue;
    const pid = Number(entry.slice(prefix.length).split('-')[0]);
    if (!isAlive(pid)) await rm(join(dirname(dataDir), entry), { recursive: true, force: true });
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function isNotEmpty(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
}
