import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { isAlive } from '../../src/ledger/embedded/processes.ts';
import { startServer } from '../../src/ledger/embedded/server.ts';
import { type ServeProcess, serve } from './harness/serve-process.ts';

let folder: string;
let dataDir: string;
const children: ServeProcess[] = [];
const serving = (...args: Parameters<typeof serve>): ServeProcess => {
  const child = serve(...args);
  children.push(child);
  return child;
};
const start = () => startServer({ dataDir, durable: false, settings: { fsync: 'off' } });
const gone = (pid: number) => expect.poll(() => isAlive(pid), { timeout: 15_000 }).toBe(false);
const run = async (url: string, sql: string): Promise<unknown> => {
  const client = await connect(url);
  try {
    return Object.values((await client.query(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
};

/** A data folder that was used and stopped; tests that are not about initdb begin with a copy. */
let used: string;
const copyUsed = () => execFileSync('cp', ['-a', join(used, 'postgres'), dataDir]);

beforeAll(async () => {
  used = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-crash-')));
  const server = await startServer({ dataDir: join(used, 'postgres'), durable: false });
  await run(server.urlFor('postgres'), 'CREATE TABLE kept AS SELECT 42 AS answer');
  await server.stop();
});
afterAll(() => rm(used, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-crash-')));
  dataDir = join(folder, 'postgres');
});
afterEach(async () => {
  for (const { child, end } of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) await end('SIGTERM');
  }
  await rm(folder, { recursive: true, force: true });
});

test('a killed run leaves its server; the next start ends it and goes on with the data', async () => {
  copyUsed();
  const first = serving(dataDir);
  const { pid, url } = await first.served;
  await run(url, 'UPDATE kept SET answer = 43');
  await first.end('SIGKILL');
  expect(isAlive(pid)).toBe(true);
  const server = await start();
  expect(isAlive(pid)).toBe(false);
  expect(await run(server.urlFor('postgres'), 'SELECT answer FROM kept')).toBe(43);
  await server.stop();
});

test('a killed server: its end is seen, its postmaster.pid is no obstacle, what was committed is there', async () => {
  copyUsed();
  const server = await start();
  await run(server.urlFor('postgres'), 'UPDATE kept SET answer = 43');
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
  await server.stop(); // does nothing, and does not fail
  expect(existsSync(join(dataDir, 'postmaster.pid'))).toBe(true);
  const second = await start();
  expect(await run(second.urlFor('postgres'), 'SELECT answer FROM kept')).toBe(43);
  await second.stop();
});

test('a killed run whose server was killed too, as on a machine that lost its power', async () => {
  copyUsed();
  const first = serving(dataDir);
  const { pid, url } = await first.served;
  await run(url, 'UPDATE kept SET answer = 43');
  await first.end('SIGKILL');
  process.kill(pid, 'SIGKILL');
  const server = await start();
  expect(await run(server.urlFor('postgres'), 'SELECT answer FROM kept')).toBe(43);
  await server.stop();
});

test('a postmaster.pid whose number now belongs to another program is no obstacle', async () => {
  copyUsed();
  // A program of the user that Postgres runs as, and so one that Postgres itself would take for a server.
  const { uid, gid } = await import('node:fs').then(({ statSync }) => statSync(dataDir));
  const ids = process.getuid?.() === 0 ? { uid, gid } : {};
  const other = spawn('sleep', ['60'], { ...ids, stdio: 'ignore' });
  await writeFile(
    join(dataDir, 'postmaster.pid'),
    `${other.pid}\n${dataDir}\n1\n5432\n\n127.0.0.1\n1 1\nready\n`,
  );
  const server = await start();
  await server.stop();
  expect(isAlive(other.pid ?? 0)).toBe(true);
  other.kill();
});

test('two starts at once on a new folder: one runs, the other says who', async () => {
  const pair = [serving(dataDir), serving(dataDir)];
  const [one, two] = await Promise.all(pair.map(({ served }) => served));
  const [winner, loser] = one?.error ? [two, one] : [one, two];
  expect(winner).toMatchObject({ pid: expect.any(Number), url: expect.any(String) });
  expect(loser?.error).toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('Another Oncehook'),
  });
  expect(await run(winner?.url ?? '', 'SELECT 1')).toBe(1);
  expect(await readdir(folder)).toEqual(['postgres']);
});

test('a run that was killed during initdb leaves nothing that a start stumbles over', async () => {
  const first = serving(dataDir);
  first.served.catch(() => {});
  await expect
    .poll(() => readdir(folder), { interval: 5, timeout: 15_000 })
    .toEqual([expect.stringContaining('.new-')]);
  await first.end('SIGKILL');
  expect(existsSync(dataDir)).toBe(false);
  const server = await start();
  expect(await run(server.urlFor('postgres'), 'SELECT 1')).toBe(1);
  await server.stop();
  await expect.poll(() => readdir(folder)).toEqual(['postgres']);
});

test('the temporary folder of a run that still lives is left to it', async () => {
  const theirs = join(folder, `postgres.new-${process.ppid}-abc`);
  await mkdir(theirs);
  await (await start()).stop();
  expect(existsSync(theirs)).toBe(true);
});

test('Ctrl-C in the terminal reaches the run, not the server', async () => {
  copyUsed();
  const first = serving(dataDir, { detached: true });
  const { pid, url } = await first.served;
  first.child.once('exit', () => {});
  process.kill(-(first.child.pid ?? 0), 'SIGINT'); // the whole group of the terminal's foreground
  await new Promise((done) => first.child.once('close', done));
  expect(await run(url, 'SELECT 1')).toBe(1);
  process.kill(pid, 'SIGINT');
  await gone(pid);
});

test('a run that ends by an uncaught error takes its server with it', async () => {
  copyUsed();
  const script = join(folder, 'throwing.mts');
  const server = new URL('../../src/ledger/embedded/server.ts', import.meta.url).href;
  await writeFile(
    script,
    `import { startServer } from ${JSON.stringify(server)};
     const { pid, port } = await startServer({ dataDir: process.argv[2], durable: false });
     process.stdout.write(JSON.stringify({ pid, port }) + '\\n', () => { throw new Error('on purpose'); });`,
  );
  const { pid } = await serving(dataDir, { script }).served;
  await gone(pid);
  // A fast shutdown removes the file; a killed server does not.
  await expect(readFile(join(dataDir, 'postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' });
});
