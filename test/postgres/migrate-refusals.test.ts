import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer } from '../../src/ledger/embedded/server.ts';
import { migrate, planMigrations } from '../../src/ledger/migrate.ts';
import { testVersion } from './harness/cluster.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';
import { startPooler } from './harness/pooler.ts';

let database: TestDatabase;
let clean: (() => Promise<unknown>)[];

beforeEach(async () => {
  database = await createDatabase({ empty: true });
  clean = [];
});
afterEach(async () => {
  await database.drop();
  for (const step of clean) await step();
});

/** A role without any right, and the URL of the database for it. */
async function stranger(): Promise<{ role: string; url: string }> {
  const role = `stranger_${database.name}`;
  const admin = await database.admin();
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'stranger'`);
  clean.push(async () => {
    const owner = await createDatabase({ empty: true });
    await (await owner.admin()).query(`DROP ROLE ${role}`);
    await owner.drop();
  });
  const url = new URL(database.url);
  url.username = role;
  url.password = 'stranger';
  return { role, url: url.href };
}

test('a role that may not create a schema is told which right it lacks; with that right alone it migrates', async () => {
  const { role, url } = await stranger();
  await expect(migrate(url)).rejects.toMatchObject({
    name: 'UserError',
    issues: [{ remedy: expect.stringContaining(`GRANT CREATE ON DATABASE "${database.name}" TO "${role}"`) }],
  });
  await (await database.admin()).query(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
  expect(await migrate(url)).not.toEqual([]);
});

test("another role's schema is refused, and its owner named", async () => {
  await migrate(database.url);
  const { role, url } = await stranger();
  await (await database.admin()).query(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
  const owner = new URL(database.url).username;
  for (const run of [migrate, planMigrations]) {
    await expect(run(url)).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringContaining(owner),
    });
  }
});

test('a schema that an administrator made and gave away is used', async () => {
  const { role, url } = await stranger();
  await (await database.admin()).query(`CREATE SCHEMA oncehook AUTHORIZATION ${role}`);
  expect(await migrate(url)).not.toEqual([]);
});

test('a schema oncehook of somebody else is left alone', async () => {
  const owner = await database.owner();
  await owner.query('CREATE SCHEMA oncehook; CREATE TABLE oncehook.fish ()');
  await expect(migrate(database.url)).rejects.toMatchObject({ name: 'UserError' });
  expect(
    (await owner.query("SELECT FROM pg_class WHERE relnamespace = 'oncehook'::regnamespace")).rowCount,
  ).toBe(1);
});

test('a database that is read-only for the role is refused', async () => {
  await (await database.owner()).query(
    `ALTER DATABASE ${database.name} SET default_transaction_read_only = on`,
  );
  await expect(migrate(database.url)).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('read-only'),
  });
});

test('a transaction pooler is found out by what it does, and nothing is written through it', async () => {
  const pooler = await startPooler(database.url);
  try {
    for (const run of [migrate, planMigrations]) {
      await expect(run(pooler.url)).rejects.toMatchObject({
        name: 'UserError',
        message: expect.stringContaining('pooler'),
      });
    }
  } finally {
    await pooler.close();
  }
  const owner = await database.owner();
  expect((await owner.query("SELECT FROM pg_namespace WHERE nspname = 'oncehook'")).rowCount).toBe(0);
});

test('a standby is refused', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-standby-')));
  clean.push(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'postgres');
  const options = { dataDir, version: testVersion(), durable: false };
  const primary = await startServer(options);
  await primary.stop();
  // A stopped primary with this file comes up as a standby that waits for more.
  await writeFile(join(dataDir, 'standby.signal'), '', { mode: 0o644 });
  const standby = await startServer({ ...options, settings: { hot_standby: 'on' } });
  clean.unshift(() => standby.stop());
  await expect(migrate(standby.urlFor('postgres'))).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('standby'),
  });
});
