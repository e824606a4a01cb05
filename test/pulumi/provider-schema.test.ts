import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SchemaProvider } from '../../infra/dynamic.ts';
import type { SchemaInputs } from '../../infra/work/schema.ts';
import { connect } from '../../src/ledger/connect.ts';
import { migrate } from '../../src/ledger/migrate.ts';
import { readMigrations } from '../../src/ledger/migration-files.ts';
import { testVersion } from '../postgres/harness/cluster.ts';
import { startPooler } from '../postgres/harness/pooler.ts';
import { sourceRow } from '../postgres/harness/source-row.ts';
import { startTestServer, type TestServer } from './harness/server.ts';
import { type ProviderProcess, startProvider } from './program/provider-process.ts';

const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
const SIGNING = 'signing-secret-of-the-shop';

let server: TestServer;
let provider: ProviderProcess;
let inputs: SchemaInputs;
let saidBefore: number;

beforeAll(async () => {
  server = await startTestServer(testVersion());
  provider = await startProvider(new SchemaProvider());
});
afterAll(async () => {
  await provider.stop();
  await server.stop();
});
beforeEach(async () => {
  await server.sql(
    'postgres',
    "CREATE ROLE shop_owner LOGIN PASSWORD 'owner-password'",
    "CREATE ROLE oncehook_n8n LOGIN PASSWORD 'n8n-password'",
    'CREATE DATABASE shop OWNER shop_owner',
  );
  inputs = {
    connection: server.url('shop', { user: 'shop_owner', password: 'owner-password' }),
    n8nConnection: server.url('shop', { user: 'oncehook_n8n', password: 'n8n-password' }),
    migrations: Object.fromEntries(readMigrations().map(({ name, sha256 }) => [name, sha256])),
    grants: 'digest',
    sources: [
      sourceRow('shop', {
        signature: {
          scheme: 'hmac-sha256',
          header: 'x-signature',
          encoding: 'hex',
          signed: ['{body}'],
          secret_encoding: 'utf8',
        },
      }),
    ],
    secrets: [{ source: 'shop', name: 'SHOP', key: Buffer.from(SIGNING).toString('base64') }],
    exclusive: true,
    keepData: true,
  };
  saidBefore = provider.written().length;
});
afterEach(() => server.wipe());

/** What the provider wrote in this test. */
const said = () => provider.written().slice(saidBefore);
const create = async (change: Partial<SchemaInputs> = {}) =>
  (await provider.create({ ...inputs, ...change })).outs;
const changes = (olds: Record<string, unknown>, change: Partial<SchemaInputs> = {}) =>
  provider.diff(olds, { ...inputs, ...change });
const secretsOf = async (source: string) =>
  (
    await server.sql<{ name: string; secret: Buffer }>(
      'shop',
      `SELECT name, secret FROM oncehook.webhook_secrets WHERE source_id = '${source}' ORDER BY created_at, name`,
    )
  ).map(({ name, secret }) => [name, secret.toString()]);
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('It was not refused.'),
    (error: Error) => error.message,
  );

test('create migrates, grants, writes sources and secrets, and tells digests and names alone', async () => {
  const outs = await create();
  expect(outs['applied']).toEqual(readMigrations().map(({ name }) => name));
  expect(await secretsOf('shop')).toEqual([['SHOP', SIGNING]]);
  const n8n = await connect(inputs.n8nConnection);
  await expect(n8n.query('SELECT * FROM oncehook.webhook_secrets')).rejects.toMatchObject({ code: '42501' });
  expect((await n8n.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '20s' }]);
  await n8n.end();
  expect(Object.keys(outs).sort()).toEqual(
    ['applied', 'exclusive', 'grants', 'keepData', 'migrations', 'secrets', 'sourcesDigest', 'target'].sort(),
  );
  const told = JSON.stringify(outs) + said();
  for (const secret of [SIGNING, 'owner-password', 'n8n-password', Buffer.from(SIGNING).toString('base64')]) {
    expect(told).not.toContain(secret);
  }
});

test('nothing is to be done again', async () => {
  const outs = await create();
  expect(await changes(outs)).toBe(false);
  expect(await provider.read(outs)).toEqual(outs);
});

test('each thing that the database should have is a difference', async () => {
  const outs = await create();
  const differences: Partial<SchemaInputs>[] = [
    { migrations: { ...inputs.migrations, '0099_more': 'digest' } },
    { grants: 'another' },
    { sources: [] },
    { sources: [sourceRow('shop', { leaseSeconds: 5 })] },
    { secrets: [{ source: 'shop', name: 'SHOP', key: 'b3RoZXI=' }] },
    { secrets: [...inputs.secrets, { source: 'shop', name: 'NEXT', key: 'b3RoZXI=' }] },
    { exclusive: false },
    { keepData: false },
    { connection: server.url('store', { user: 'shop_owner', password: 'owner-password' }) },
    { connection: UNKNOWN },
  ];
  for (const change of differences) expect([change, await changes(outs, change)]).toEqual([change, true]);
});

test('a database that lost its schema is a difference, and so is one that is gone', async () => {
  const outs = await create();
  await server.sql('shop', 'DROP SCHEMA oncehook CASCADE');
  expect(await changes(outs)).toBe(true);
  expect((await provider.update(outs, { ...inputs }))['applied']).toEqual(outs['applied']);
  expect(await changes(outs)).toBe(false);
  await server.sql('postgres', 'DROP DATABASE shop WITH (FORCE)');
  expect(await changes(outs)).toBe(true);
});

test('a password that changed is none, nor a secret that is not at hand here', async () => {
  const outs = await create();
  expect(await changes(outs, { connection: inputs.connection.replace('owner-password', 'next') })).toBe(
    false,
  );
  expect(await changes(outs, { secrets: [] })).toBe(false);
  const updated = await provider.update(outs, { ...inputs, secrets: [], sources: [] });
  expect(await changes(updated, { sources: [] })).toBe(false);
});

test('update brings what is new; a secret of the same name keeps the one before live', async () => {
  const outs = await create();
  const key = Buffer.from('the next secret').toString('base64');
  const news = {
    ...inputs,
    sources: [sourceRow('bank'), ...inputs.sources],
    secrets: [{ source: 'shop', name: 'SHOP', key }],
  };
  const updated = await provider.update(outs, news);
  expect(await provider.diff(updated, news)).toBe(false);
  const stored = await secretsOf('shop');
  expect(stored.map(([, secret]) => secret)).toEqual([SIGNING, 'the next secret']);
  expect(stored[1]?.[0]).toBe('SHOP');
  expect(said()).toContain('source bank: added');
});

test('a database that somebody else migrated is adopted, with what it holds', async () => {
  await migrate(inputs.connection);
  await server.sql(
    'shop',
    "INSERT INTO oncehook.webhook_sources (id, name, provider, signature, key_recipe) VALUES ('old', 'old', 'custom', '{\"scheme\": \"none\"}', '{body.id}')",
  );
  const outs = await create();
  expect(outs['applied']).toHaveLength(readMigrations().length);
  const rows = await server.sql('shop', 'SELECT id, active FROM oncehook.webhook_sources ORDER BY id');
  expect(rows).toEqual([
    { id: 'old', active: false },
    { id: 'shop', active: true },
  ]);
});

test('nothing is left to everybody in a database that is ours alone, and others keep theirs', async () => {
  const open = async () =>
    (
      await server.sql<{ usage: boolean }>(
        'shop',
        "SELECT EXISTS (SELECT FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'public' AND a.grantee = 0) AS usage",
      )
    )[0]?.usage;
  const outs = await create({ exclusive: false });
  expect(await open()).toBe(true);
  await provider.update(outs, { ...inputs });
  // Before Postgres 15 that takes a superuser: then it is said.
  expect([await open(), said().includes('REVOKE ALL ON SCHEMA public')]).toEqual(
    testVersion() < 15 ? [true, true] : [false, false],
  );
});

test('delete keeps the data and says so; told otherwise it removes it, and n8n’s sessions with it', async () => {
  const schemas = () => server.sql('shop', "SELECT FROM pg_namespace WHERE nspname = 'oncehook'");
  const kept = await create();
  await provider.delete(kept);
  expect(await schemas()).toHaveLength(1);
  expect(said()).toContain('keepData');

  const outs = await provider.update(kept, { ...inputs, keepData: false });
  const n8n = await connect(inputs.n8nConnection);
  n8n.on('error', () => {});
  await n8n.query('BEGIN');
  await n8n.query('SELECT count(idempotency_key) FROM oncehook.webhook_events');
  await provider.delete(outs);
  expect(await schemas()).toHaveLength(0);
  await expect(n8n.query('SELECT 1')).rejects.toThrow();
  // Once more, as after a destroy that broke off later on.
  await provider.delete(outs);
});

test('what is to be removed one day is another thing from what is kept, and follows a password', async () => {
  const outs = await create({ keepData: false });
  expect([await changes(outs, { keepData: false }), await changes(outs)]).toEqual([false, true]);
  const connection = inputs.connection.replace('owner-password', 'next');
  expect(await changes(outs, { keepData: false, connection })).toBe(true);
});

test.each([
  ['wrong password', /refuses the password[\s\S]*remedy/, { user: 'shop_owner', password: 'wrong' }],
  ['nobody’s schema', /GRANT CREATE ON DATABASE/, { user: 'oncehook_n8n', password: 'n8n-password' }],
])('%s: refused soon, with the remedy and without the password', async (_, expected, login) => {
  const began = performance.now();
  const message = await refusal(create({ connection: server.url('shop', login) }));
  expect(message).toMatch(expected);
  expect(message + said()).not.toContain(login.password);
  expect(performance.now() - began).toBeLessThan(15_000);
});

test('n8n’s login is tried: a password that does not fit is told at once', async () => {
  const n8nConnection = server.url('shop', { user: 'oncehook_n8n', password: 'another' });
  expect(await refusal(create({ n8nConnection }))).toContain('n8nPassword');
});

test('where n8n logs in as the owner, the owner’s role is pinned for this database alone', async () => {
  await create({ n8nConnection: inputs.connection });
  const [row] = await server.sql<{ settings: string[] }>(
    'postgres',
    `SELECT setconfig AS settings FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
     WHERE datname = 'shop' AND setrole = 'shop_owner'::regrole`,
  );
  expect(row?.settings).toContain('lock_timeout=2000');
});

test('behind a transaction pooler it is refused, and the remedy is the direct port', async () => {
  const pooler = await startPooler(inputs.connection);
  try {
    expect(await refusal(create({ connection: pooler.url }))).toMatch(/pooler[\s\S]*5432/);
  } finally {
    await pooler.close();
  }
});

test('a migration that was edited since is refused', async () => {
  await create();
  const digest = createHash('sha256').update('edited').digest('hex');
  await server.sql('shop', `UPDATE oncehook.migrations SET sha256 = '${digest}' WHERE name = '0002_bodies'`);
  expect(await refusal(create())).toContain('0002_bodies was changed');
});
