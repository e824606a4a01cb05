import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, openPool } from '../../src/ledger/connect.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ empty: true });
});
afterAll(() => database.drop());

const PASSWORD = 'hush-hush';
const changed = (change: (url: URL) => void): string => {
  const url = new URL(database.url);
  change(url);
  return url.href;
};
const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};

test.each<[string, () => string, string]>([
  ['no such database', () => changed((url) => (url.pathname = '/atlantis')), 'atlantis'],
  ['a wrong password', () => changed((url) => (url.password = PASSWORD)), 'password'],
  ['no password', () => changed((url) => (url.password = '')), 'password'],
  ['no such role', () => changed((url) => (url.username = 'nobody_here')), 'nobody_here'],
  ['nothing on the port', () => changed((url) => (url.port = '1')), ':1'],
  ['an unknown host', () => changed((url) => (url.hostname = 'db.invalid')), 'db.invalid'],
  ['TLS that the server does not speak', () => changed((url) => (url.search = '?sslmode=require')), 'TLS'],
  ['no URL', () => `host=localhost password=${PASSWORD}`, 'ONCEHOOK_DATABASE_URL'],
  ['a URL of something else', () => `mysql://root:${PASSWORD}@localhost/shop`, 'ONCEHOOK_DATABASE_URL'],
  [
    'a URL that cannot be read',
    () => `postgresql://root:${PASSWORD}@local host:port/shop`,
    'ONCEHOOK_DATABASE_URL',
  ],
])('%s: the cause and what to do, and no password', async (_what, url, word) => {
  for (const open of [connect, openPool]) {
    const error = await open(url()).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringContaining(word) });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(PASSWORD);
  }
});

test('a server that accepts and says nothing is given up, and called that', async () => {
  const silent = createServer();
  const port = await listening(silent);
  const url = changed((it) => {
    it.port = String(port);
  });
  await expect(connect(url, { timeoutMs: 200 })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining(String(port)),
  });
  silent.close();
});

test('a connection that failed is closed at once, or the process would wait for the server to give up', async () => {
  const open = new Set<Socket>();
  const relay = createServer((client) => {
    const server = createConnection(Number(new URL(database.url).port), '127.0.0.1');
    client.pipe(server).pipe(client);
    open.add(client);
    client.once('close', () => open.delete(client)).on('error', () => {});
    server.on('error', () => {});
  });
  const port = await listening(relay);
  const url = changed((it) => {
    it.port = String(port);
    it.password = '';
  });
  await expect(connect(url)).rejects.toMatchObject({ name: 'UserError' });
  await expect.poll(() => open.size).toBe(0);
  relay.close();
});

test('a server that hangs up is called that', async () => {
  const rude = createServer((socket) => socket.destroy());
  const port = await listening(rude);
  await expect(connect(changed((url) => (url.port = String(port))))).rejects.toMatchObject({
    name: 'UserError',
  });
  rude.close();
});

test('a connection that is lost between two queries rejects the next query, and nothing else', async () => {
  const client = await connect(database.url);
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const ended = new Promise((done) => client.once('end', done));
  await (await database.admin()).query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
  await ended;
  await expect(client.query('SELECT 1')).rejects.toThrow();
  await client.end();
});

test('a pool hands out connections that bear its name', async () => {
  const pool = await openPool(database.url, { applicationName: 'a test', max: 2 });
  expect((await pool.query("SELECT current_setting('application_name') AS name")).rows).toEqual([
    { name: 'a test' },
  ]);
  await pool.end();
});
