import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { stopLeftServer } from '../../src/ledger/embedded/left-server.ts';
import {
  findServer,
  type Server,
  type ServerOptions,
  startServer,
} from '../../src/ledger/embedded/server.ts';

let folder: string;
/** A data folder that was used and stopped once; tests copy it, because initdb is the slow part. */
let used: string;
const running: Server[] = [];

const start = async (options: ServerOptions): Promise<Server> => {
  const server = await startServer({
    durable: false,
    ...options,
    settings: { fsync: 'off', ...options.settings },
  });
  running.push(server);
  return server;
};
const copyOfUsed = async (): Promise<string> => {
  const copy = join(await mkdtemp(join(folder, 'copy-')), 'postgres');
  execFileSync('cp', ['-a', used, copy]); // with owners and modes
  return copy;
};
const ask = async (server: Server, sql: string): Promise<unknown> => {
  const client = await connect(server.urlFor('postgres'));
  try {
    return Object.values((await client.query(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
};

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-embedded-')));
  // Blanks and non-ASCII letters, and a parent that does not exist: as a user's folder may be.
  used = join(folder, 'Meine Läden – データ', '.oncehook', "post'gres");
  const server = await start({ dataDir: used });
  await ask(server, 'CREATE TABLE kept AS SELECT 42 AS answer');
  await server.stop();
});
afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

test('a second start keeps data and password, and nothing is left beside the folder', async () => {
  const server = await start({ dataDir: used });
  expect(await ask(server, 'SELECT answer FROM kept')).toBe(42);
  expect(await findServer(used)).toMatchObject({ pid: server.pid, port: server.port });
  await server.stop();
  expect(await findServer(used)).toBeUndefined();
  expect(await readdir(join(used, '..'))).toEqual(["post'gres"]);
});

test('only this machine and only with the password: no socket file, no trust, no readable password', async () => {
  const dataDir = await copyOfUsed();
  const server = await start({ dataDir });
  expect(await ask(server, 'SHOW listen_addresses')).toBe('127.0.0.1');
  expect(await ask(server, 'SHOW unix_socket_directories')).toBe('');
  await expect(connect(server.urlFor('postgres', { user: 'postgres', password: 'guess' }))).rejects.toThrow(
    'password',
  );
  await expect(connect(server.urlFor('postgres', { user: 'postgres' }))).rejects.toThrow('password');
  expect((await stat(join(dataDir, 'oncehook.password'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  await server.stop();
});

test('UTF-8, whatever the locale of the machine', async () => {
  const server = await start({ dataDir: await copyOfUsed() });
  expect(await ask(server, 'SHOW server_encoding')).toBe('UTF8');
  expect(await ask(server, "SELECT count(*)::int FROM pg_database WHERE datcollate = 'C'")).toBe(3);
  await server.stop();
});

test('a port that is taken is named; the folder stays usable', async () => {
  const dataDir = await copyOfUsed();
  let calls = 0;
  const other = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await expect(start({ dataDir, port })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining(String(port)),
    issues: [{ remedy: expect.any(String) }],
  });
  await new Promise((done) => other.close(done));
  expect(calls).toBe(0); // the other program was not taken for the server
  const server = await start({ dataDir, port });
  expect(server.port).toBe(port);
  await server.stop();
});

test('a second start on the same folder names the process that has it, and leaves it alone', async () => {
  const server = await start({ dataDir: await copyOfUsed() });
  await expect(start({ dataDir: server.dataDir, port: server.port })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringMatching(new RegExp(`process ${process.pid}\\b.*${server.port}`)),
  });
  expect(await ask(server, 'SELECT 1')).toBe(1);
  await server.stop();
});

test('the mark of its process comes back after a crash of a backend', async () => {
  const server = await start({ dataDir: await copyOfUsed() });
  const client = await connect(server.urlFor('postgres'));
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const ended = new Promise((done) => client.once('end', done));
  process.kill(rows[0].pid, 'SIGKILL'); // Postgres then ends every connection and recovers
  await ended;
  await expect
    .poll(
      () =>
        ask(
          server,
          "SELECT count(*)::int FROM pg_stat_activity WHERE application_name ~ 'server of process'",
        ).catch(() => 0),
      {
        timeout: 20_000,
      },
    )
    .toBe(1);
  await server.stop();
});

test('a server whose mark is away for a moment is not taken for one that was left', async () => {
  const server = await start({ dataDir: await copyOfUsed() });
  await ask(
    server,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ 'server of process'",
  );
  await expect(stopLeftServer(server.dataDir)).rejects.toMatchObject({ name: 'UserError' });
  expect(await ask(server, 'SELECT 1')).toBe(1);
  await server.stop();
});

test.each<{ what: string; file: string; text: string; word: string }>([
  { what: 'files of somebody else', file: 'thesis.txt', text: 'precious', word: 'foreign-' },
  { what: 'a data folder of another version', file: 'PG_VERSION', text: '13\n', word: 'Postgres 13' },
])('$what are refused and not touched', async ({ file, text, word }) => {
  const dataDir = await mkdtemp(join(folder, 'foreign-'));
  await writeFile(join(dataDir, file), text);
  if (file === 'PG_VERSION') await writeFile(join(dataDir, 'oncehook.password'), 'x\n');
  const before = await readdir(dataDir);
  await expect(start({ dataDir })).rejects.toMatchObject({
    name: 'UserError',
    issues: [{ message: expect.stringContaining(word), remedy: expect.any(String) }],
  });
  expect(await readdir(dataDir)).toEqual(before);
});

test('a file where a folder is needed is refused', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  await expect(start({ dataDir: join(file, 'postgres') })).rejects.toMatchObject({ name: 'UserError' });
  await expect(start({ dataDir: file })).rejects.toMatchObject({ name: 'UserError' });
});

test('a setting that Postgres refuses is shown in its own words', async () => {
  await expect(
    start({ dataDir: await copyOfUsed(), settings: { work_mem: 'plenty' } }),
  ).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('work_mem'),
  });
});

test('an existing empty folder is used', async () => {
  const dataDir = join(folder, 'empty');
  await mkdir(dataDir);
  const server = await start({ dataDir });
  await server.stop();
  expect(existsSync(join(dataDir, 'PG_VERSION'))).toBe(true);
});
