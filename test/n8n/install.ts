import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('server/', import.meta.url));

/** An n8n that is ready to be started. */
export interface Installation {
  folder: string;
  /** The script that Node runs: `node <program> start`. */
  program: string;
  /** A Node that this n8n accepts (24 or newer). */
  node: string;
}

/**
 * Installs the n8n of `server/package-lock.json` into a cache folder that the lock file names, unless it is
 * there. 2.6 GB from the npm registry, two to five minutes, once a machine.
 *
 * No install script runs: the database is Postgres, so n8n never loads sqlite3, and isolated-vm comes with
 * its compiled addons. It is made in a temporary folder and renamed, under a lock, so that a run that was
 * broken off leaves nothing half-made and of two runs at once only one installs.
 */
export async function installN8n(say: (line: string) => void = () => {}): Promise<Installation> {
  const hash = createHash('sha256')
    .update(readFileSync(join(PACKAGE, 'package-lock.json')))
    .digest('hex');
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'oncehook', `n8n-${hash.slice(0, 16)}`);
  const installation = { folder, program: join(folder, 'node_modules/n8n/bin/n8n'), node: findNode() };
  if (isComplete(folder)) return installation;
  await mkdir(dirname(folder), { recursive: true });
  const unlock = await lock(`${folder}.lock`, say);
  try {
    if (!isComplete(folder)) await install(folder, installation.node, say);
  } finally {
    await unlock();
  }
  return installation;
}

function isComplete(folder: string): boolean {
  return existsSync(join(folder, '.complete'));
}

/** The Node that runs this, or the one among the development dependencies. */
function findNode(): string {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= 24) return process.execPath;
  return join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin/node');
}

async function install(folder: string, node: string, say: (line: string) => void): Promise<void> {
  const began = Date.now();
  await removeLeftovers(folder);
  const fresh = `${folder}.new-${process.pid}`;
  await mkdir(fresh);
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(join(PACKAGE, name), join(fresh, name));
  say(`n8n: installing into ${folder} (2.6 GB, once a machine; a few minutes) …`);
  const progress = setInterval(() => say(`n8n: still installing, ${seconds(began)} s …`), 30_000);
  try {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], fresh);
  } finally {
    clearInterval(progress);
  }
  await run(node, ['-e', 'require("isolated-vm")'], fresh);
  await writeFile(join(fresh, '.complete'), '');
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
  say(`n8n: installed in ${seconds(began)} s.`);
}

/** Removes the temporary folders of installations whose process is gone. */
async function removeLeftovers(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.new-`;
  for (const name of await readdir(dirname(folder))) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length)))) continue;
    await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1000);
}

function run(program: string, args: string[], cwd: string): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-4000);
      });
    }
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) done();
      else fail(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`));
    });
  });
}

/** Takes the lock, waiting for the process that holds it; a lock whose process is gone is taken over. */
async function lock(path: string, say: (line: string) => void): Promise<() => Promise<void>> {
  for (let told = false; ; ) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''));
    if (holder > 0 && !isAlive(holder)) {
      await rm(path, { force: true });
      continue;
    }
    if (!told) say(`n8n: process ${holder} is installing it; waiting …`);
    told = true;
    await pause(1000);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

if (import.meta.main) {
  const { folder } = await installN8n((line) => console.log(line));
  console.log(folder);
}
