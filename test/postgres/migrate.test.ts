import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate, planMigrations } from '../../src/ledger/migrate.ts';
import { readMigrations } from '../../src/ledger/migration-files.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';

let database: TestDatabase;
let folder: string;
const write = (name: string, sql: string) => writeFile(join(folder, `${name}.sql`), sql);
const recorded = async () => {
  const owner = await database.owner();
  return (await owner.query('SELECT name, sha256 FROM oncehook.migrations ORDER BY id')).rows;
};

beforeEach(async () => {
  database = await createDatabase({ empty: true });
  folder = await mkdtemp(join(tmpdir(), 'oncehook-migrations-'));
  await write('0001_first', 'CREATE TABLE oncehook.first (id int);\n');
  await write(
    '0002_second',
    'ALTER TABLE oncehook.first ADD COLUMN name text;\n-- {braces} and $1 stay as they are\n',
  );
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

test('twenty at once: all succeed, and each file runs once', async () => {
  const names = readMigrations().map(({ name }) => name);
  const runs = await Promise.all(Array.from({ length: 20 }, () => migrate(database.url)));
  expect(runs.filter((applied) => applied.length > 0)).toEqual([names]);
  expect((await recorded()).map(({ name }) => name)).toEqual(names);
});

test('the plan says what would run and changes nothing; what ran is not planned again', async () => {
  const names = ['0001_first', '0002_second'];
  expect(await planMigrations(database.url, { folder })).toEqual({ applied: [], pending: names });
  const owner = await database.owner();
  expect((await owner.query("SELECT FROM pg_namespace WHERE nspname = 'oncehook'")).rowCount).toBe(0);
  const seen: string[] = [];
  expect(await migrate(database.url, { folder, onMigration: (name) => seen.push(name) })).toEqual(names);
  expect(seen).toEqual(names);
  expect(await planMigrations(database.url, { folder })).toEqual({ applied: names, pending: [] });
  expect(await migrate(database.url, { folder })).toEqual([]);
});

test('a later file is applied alone', async () => {
  await migrate(database.url, { folder });
  await write('0003_third', 'CREATE TABLE oncehook.third ();');
  expect(await migrate(database.url, { folder })).toEqual(['0003_third']);
});

test('a migration that fails leaves neither its work nor its record, and keeps those before it', async () => {
  await write('0002_second', 'CREATE TABLE oncehook.second ();\nSELECT 1 / 0;\n');
  await expect(migrate(database.url, { folder })).rejects.toMatchObject({
    name: 'Bug',
    message: expect.stringContaining('0002_second.sql'),
  });
  expect((await recorded()).map(({ name }) => name)).toEqual(['0001_first']);
  const owner = await database.owner();
  expect((await owner.query("SELECT to_regclass('oncehook.second') AS it")).rows).toEqual([{ it: null }]);
  await write('0002_second', 'CREATE TABLE oncehook.second ();');
  expect(await migrate(database.url, { folder })).toEqual(['0002_second']);
});

test('a syntax error is shown with its line', async () => {
  await write('0002_second', 'SELECT 1;\n\nSELEC 2;\n');
  await expect(migrate(database.url, { folder })).rejects.toMatchObject({
    message: expect.stringContaining('0002_second.sql:3'),
  });
});

test('a file that was edited after it had been applied is refused by name; the others are not blamed', async () => {
  await migrate(database.url, { folder });
  await write('0001_first', 'CREATE TABLE oncehook.first (id bigint);\n');
  await write('0003_third', 'CREATE TABLE oncehook.third ();');
  for (const run of [migrate, planMigrations]) {
    await expect(run(database.url, { folder })).rejects.toMatchObject({
      name: 'UserError',
      issues: [{ file: join(folder, '0001_first.sql'), remedy: expect.any(String) }],
    });
  }
  expect(await recorded()).toHaveLength(2);
});

test('line endings do not count as an edit', async () => {
  await migrate(database.url, { folder });
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(join(folder, name), text.replaceAll('\n', '\r\n'));
  }
  expect(await migrate(database.url, { folder })).toEqual([]);
});

test('a database newer than the package is refused, and the unknown migration named', async () => {
  await write('0003_third', 'CREATE TABLE oncehook.third ();');
  await migrate(database.url, { folder });
  await rm(join(folder, '0003_third.sql'));
  await expect(migrate(database.url, { folder })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('0003_third'),
  });
});

test('a record that was removed by hand is refused', async () => {
  await migrate(database.url, { folder });
  await (await database.owner()).query("DELETE FROM oncehook.migrations WHERE name = '0001_first'");
  await expect(migrate(database.url, { folder })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('0001_first'),
  });
});

test('settings of the role do not reach a migration', async () => {
  const owner = await database.owner();
  const { rows } = await owner.query('SELECT current_user AS role');
  const pin = (setting: string) =>
    owner.query(`ALTER ROLE ${rows[0].role} IN DATABASE ${database.name} SET ${setting}`);
  await pin("statement_timeout = '50ms'");
  await pin("default_transaction_isolation = 'serializable'");
  await pin('search_path = pg_temp');
  await write(
    '0003_third',
    `SELECT pg_sleep(0.1);
     CREATE TABLE oncehook.third AS SELECT current_setting('transaction_isolation') AS level, current_setting('search_path') AS path;`,
  );
  await migrate(database.url, { folder });
  const found = await (await database.owner()).query('SELECT * FROM oncehook.third');
  expect(found.rows).toEqual([{ level: 'read committed', path: '""' }]);
});

test('a migration that never ends makes the next one give up, and say so', async () => {
  const other = await database.owner();
  await other.query('SELECT pg_advisory_lock(1869505381, 1752133483)');
  await expect(migrate(database.url, { folder, lockTimeoutMs: 100 })).rejects.toMatchObject({
    name: 'UserError',
    issues: [{ remedy: expect.any(String) }],
  });
});

test('a table that is in use does not make deliveries wait behind a migration', async () => {
  await migrate(database.url, { folder });
  await write('0003_third', 'ALTER TABLE oncehook.first ADD COLUMN more int;');
  const reader = await database.owner();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM oncehook.first');
  await expect(migrate(database.url, { folder })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining('0003_third'),
  });
  await reader.query('COMMIT');
  expect(await migrate(database.url, { folder })).toEqual(['0003_third']);
});

test('a misnamed or missing number is refused before anything runs', async () => {
  await cp(join(folder, '0002_second.sql'), join(folder, '0004_fourth.sql'));
  await expect(migrate(database.url, { folder })).rejects.toMatchObject({ name: 'Bug' });
});
