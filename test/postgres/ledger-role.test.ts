import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { type Server, startServer } from '../../src/ledger/embedded/server.ts';
import { migrate } from '../../src/ledger/migrate.ts';
import { ensureN8nRole } from '../../src/ledger/n8n-role.ts';
import { testVersion } from './harness/cluster.ts';

// Roles belong to a server, so these tests have one of their own.
let folder: string;
let server: Server;
let lines: string[] = [];
let admin: pg.Client;
let owner: pg.Client;
const login = { user: 'owner', password: 'owner' };

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-role-')));
  server = await startServer({
    dataDir: join(folder, 'postgres'),
    version: testVersion(),
    durable: false,
    settings: { fsync: 'off', log_statement: 'all' },
    onLog: (line) => lines.push(line),
  });
  admin = await connect(server.urlFor('postgres'));
});
afterAll(async () => {
  await admin.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  lines = [];
  await admin.query(`CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'owner'`);
  await admin.query('CREATE DATABASE shop OWNER owner');
  await migrate(server.urlFor('shop', login));
  owner = await connect(server.urlFor('shop', login));
});
afterEach(async () => {
  await owner.end();
  await admin.query('DROP DATABASE shop WITH (FORCE)');
  await admin.query('DROP ROLE IF EXISTS oncehook_n8n');
  await admin.query('DROP ROLE owner');
});

const asN8n = async (password: string, work: (client: pg.Client) => Promise<void>): Promise<void> => {
  const client = await connect(server.urlFor('shop', { user: 'oncehook_n8n', password }));
  await work(client).finally(() => client.end());
};

test('the role is made once, with its settings, and lets n8n in with its password', async () => {
  expect(await ensureN8nRole(owner, { password: 'first' })).toMatchObject({
    created: true,
    passwordSet: true,
  });
  expect(await ensureN8nRole(owner)).toEqual({ created: false, settings: [], passwordSet: false });
  await asN8n('first', async (client) => {
    const { rows } = await client.query(
      `SELECT name, setting FROM pg_settings WHERE source = 'user' ORDER BY name`,
    );
    expect(rows).toEqual([
      { name: 'default_transaction_isolation', setting: 'read committed' },
      { name: 'idle_in_transaction_session_timeout', setting: '30000' },
      { name: 'lock_timeout', setting: '2000' },
      { name: 'standard_conforming_strings', setting: 'on' },
      { name: 'statement_timeout', setting: '20000' },
    ]);
  });
});

test('a new password replaces the old one', async () => {
  await ensureN8nRole(owner, { password: 'first' });
  await ensureN8nRole(owner, { password: 'second !"\'\\ $~' });
  await asN8n('second !"\'\\ $~', async () => {});
  await expect(asN8n('first', async () => {})).rejects.toMatchObject({ name: 'UserError' });
});

test('no log of statements holds the password', async () => {
  await ensureN8nRole(owner, { password: 'never-in-a-log' });
  await expect.poll(() => lines.some((line) => line.includes('SCRAM-SHA-256$'))).toBe(true);
  expect(lines.filter((line) => line.includes('never-in-a-log'))).toEqual([]);
});

test('a setting that somebody changed comes back', async () => {
  await ensureN8nRole(owner);
  await owner.query("ALTER ROLE oncehook_n8n SET lock_timeout = '1h'");
  expect(await ensureN8nRole(owner)).toMatchObject({ settings: ['lock_timeout'] });
});

test('without CREATEROLE: the statements that an administrator must run, and they suffice', async () => {
  await admin.query('ALTER ROLE owner NOCREATEROLE');
  const error = (await ensureN8nRole(owner, { password: 'x' }).catch((reason: unknown) => reason)) as Error;
  expect(error).toMatchObject({ name: 'UserError' });
  const statements = error.message
    .split('\n')
    .filter((line) => /^ {2}(CREATE|GRANT|ALTER ROLE "owner")/.test(line));
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of statements) await admin.query(statement);
  expect(await ensureN8nRole(owner, { password: 'x' })).toMatchObject({ created: false, passwordSet: true });
  await asN8n('x', async () => {});
});

test('a role that an administrator made in full is used as it is', async () => {
  await ensureN8nRole(owner);
  await admin.query('ALTER ROLE owner NOCREATEROLE');
  expect(await ensureN8nRole(owner)).toEqual({ created: false, settings: [], passwordSet: false });
});

test('a password that SCRAM would prepare is refused, and nothing is made', async () => {
  for (const password of ['пароль', '', 'tab\t']) {
    await expect(ensureN8nRole(owner, { password })).rejects.toMatchObject({ name: 'UserError' });
  }
  expect((await admin.query("SELECT FROM pg_roles WHERE rolname = 'oncehook_n8n'")).rowCount).toBe(0);
});

test('ten at once end in one role', async () => {
  const clients = await Promise.all(Array.from({ length: 10 }, () => connect(server.urlFor('shop', login))));
  const changes = await Promise.all(clients.map((client) => ensureN8nRole(client, { password: 'same' })));
  await Promise.all(clients.map((client) => client.end()));
  expect(changes.filter(({ created }) => created)).toHaveLength(1);
  await asN8n('same', async () => {});
});
