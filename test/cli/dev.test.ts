import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findServer, serverUrl } from '../../src/ledger/embedded/running.ts';
import {
  endOf,
  freePort,
  makeFolder,
  postmaster,
  removeFolder,
  run,
  start,
  startDev,
  until,
} from './harness.ts';

/** One folder for the whole file: the tests are one story, each begins where the one before has ended. */
let folder: string;
let port: number;
const args = () => ['--port', `${port}`];

beforeAll(async () => {
  folder = makeFolder();
  port = await freePort();
});

afterAll(() => {
  const left = postmaster(folder);
  if (left) process.kill(left, 'SIGQUIT');
  removeFolder(folder);
});

test('a first start that is interrupted in the middle leaves no Postgres', async () => {
  const child = start(['dev', '--json', ...args()], { cwd: folder });
  await until('Postgres has begun', () => postmaster(folder) !== undefined);
  child.kill('SIGTERM');
  expect(await endOf(child)).toBe(143);
  expect(postmaster(folder)).toBeUndefined();
});

test('--once sets everything up, proves it and ends', async () => {
  const { status, stdout, stderr } = await run(['dev', '--once', '--json', ...args()], { cwd: folder });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const report = JSON.parse(stdout);
  const outcomes = report.proof.steps.map((step: { outcome: string }) => step.outcome.split(' ')[0]);
  expect(report.proof).toMatchObject({ source: 'bank', ok: true });
  expect(outcomes).toEqual([
    ...['new', 'success', 'duplicate', 'duplicate', 'duplicate', 'rejected', 'rejected'],
    ...['new', 'failed', 'reclaimed', 'success', 'duplicate', '4'],
  ]);
  expect(report.secrets).toEqual([
    { source: 'bank', name: 'BANK_SECRET', from: 'made now' },
    { source: 'shop', name: 'SHOP_SECRET', from: 'made now' },
  ]);
  expect(report.credential.changed).toContain('Password');
  expect(postmaster(folder)).toBeUndefined();
  const modes = ['passwords.json', 'secrets.env', 'n8n-credential.txt'].map(
    (name) => statSync(join(folder, '.oncehook', name)).mode & 0o777,
  );
  expect(modes).toEqual([0o600, 0o600, 0o600]);
  expect(readFileSync(join(folder, '.oncehook/.gitignore'), 'utf8')).toBe('*\n');
});

test('shows deliveries as they come, and a second start finds everything and changes nothing', async () => {
  const first = await startDev(args(), { cwd: folder });
  for (const send of [
    ['bank', '--times', '2'],
    ['shop', '--tamper', 'signature'],
    ['shop', '--event', 'oncehook.yaml'],
  ]) {
    await run(['send', ...send, '--to-ledger'], { cwd: folder });
  }
  await first.line(
    ({ source, kind, type }) => source === 'bank' && kind === 'new' && type === 'payment_intent.succeeded',
  );
  await first.line(({ source, kind }) => source === 'bank' && kind === 'duplicate');
  await first.line(({ source, kind, count }) => source === 'shop' && kind === 'rejected' && count === 1);
  await first.line(({ source, kind }) => source === 'shop' && kind === 'unkeyed');
  const before = { files: snapshot(folder), rows: await ledgerRows(folder) };
  expect(await first.stop('SIGINT')).toBe(0);
  expect(postmaster(folder)).toBeUndefined();

  const second = await startDev(args(), { cwd: folder });
  expect(second.report.credential.changed).toEqual([]);
  expect(second.report.database).toMatchObject({ migrations: { pending: [] }, sources: [] });
  expect({ files: snapshot(folder), rows: await ledgerRows(folder) }).toEqual(before);
  expect(await second.stop('SIGTERM')).toBe(0);
  expect(postmaster(folder)).toBeUndefined();
});

test('a second one beside it is refused, and the first goes on', async () => {
  const first = await startDev(args(), { cwd: folder });
  const second = await run(['dev', '--once', '--json', '--port', `${await freePort()}`], { cwd: folder });
  expect(second.status).toBe(2);
  expect(JSON.parse(second.stdout).error.issues[0].message).toContain(`${first.child.pid}`);
  expect(await first.stop('SIGHUP')).toBe(0);
});

test('a start after the process was killed recovers', async () => {
  const killed = await startDev(args(), { cwd: folder });
  const left = postmaster(folder);
  await killed.stop('SIGKILL');
  expect(postmaster(folder)).toBe(left);
  const next = await startDev(args(), { cwd: folder });
  expect(postmaster(folder)).not.toBe(left);
  // And when Postgres itself is killed, dev says so and ends.
  process.kill(postmaster(folder) ?? 0, 'SIGKILL');
  expect(await next.ended).toBe(2);
  expect(next.stderr()).not.toBe('');
});

test('a start after Postgres was killed recovers, and its report for people shows no secret', async () => {
  const { status, stdout, stderr } = await run(['dev', '--once', ...args()], { cwd: folder });
  expect(status).toBe(0);
  const names = ['passwords.json', 'secrets.env'];
  const kept = names.map((name) => readFileSync(join(folder, '.oncehook', name), 'utf8')).join('\n');
  const values = kept.match(/[0-9a-f]{40,}/g) ?? [];
  expect(values).toHaveLength(4);
  for (const value of values) expect(stdout + stderr).not.toContain(value);
});

test('an end by Ctrl-C says where the data stays and what goes on from there', async () => {
  const child = start(['dev', ...args()], { cwd: folder });
  const ended = endOf(child);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stdout?.resume();
  await until('it shows deliveries', () => said.includes('Ctrl-C'));
  said = '';
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(said).toContain('.oncehook/');
  expect(said).toContain(`npm start -- --port ${port}`);
});

test('a port that is taken is a clear error, with the option as its remedy', async () => {
  const taken = await listen();
  try {
    const { status, stderr } = await run(['dev', '--once', '--port', `${taken.port}`], { cwd: folder });
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`${taken.port}[\\s\\S]*--port`));
    expect(postmaster(folder)).toBeUndefined();
  } finally {
    taken.server.close();
  }
});

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return { server, port: typeof address === 'object' && address ? address.port : 0 };
}

/** Bytes and times of everything that a start writes. */
function snapshot(root: string): Record<string, unknown> {
  const files = [
    'oncehook.schema.json',
    ...['workflows', '.oncehook'].flatMap((name) => filesOf(root, name)),
  ];
  return Object.fromEntries(
    files.map((name) => {
      const file = join(root, name);
      return [name, { text: readFileSync(file, 'utf8'), changed: statSync(file).mtimeMs }];
    }),
  );
}

function filesOf(root: string, name: string): string[] {
  return readdirSync(join(root, name), { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(name, entry.name)] : [],
  );
}

/** Every row of the user's ledger, and the databases of the server. */
async function ledgerRows(root: string): Promise<unknown> {
  const server = await findServer(join(root, '.oncehook/postgres'));
  if (!server) throw new Error('no server');
  const client = new pg.Client({ connectionString: serverUrl(server, 'oncehook') });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'oncehook'::regnamespace AND relkind = 'r' ORDER BY 1",
    );
    const rows: Record<string, unknown> = {};
    for (const { name } of tables.rows) {
      const all = await client.query(
        `SELECT to_jsonb(t) AS row FROM oncehook.${name} t ORDER BY to_jsonb(t)::text`,
      );
      rows[name] = all.rows;
    }
    expect(Object.keys(rows).length).toBeGreaterThan(6);
    rows['databases'] = (await client.query('SELECT datname FROM pg_database ORDER BY 1')).rows;
    return rows;
  } finally {
    await client.end();
  }
}
