import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { type SourceRow, syncSources } from '../../src/ledger/sources.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';
import { sourceRow } from './harness/source-row.ts';

let database: TestDatabase;
let owner: pg.Client;
const sync = (...rows: SourceRow[]) => syncSources(owner, rows);
const stored = async (id: string) =>
  (await owner.query('SELECT * FROM oncehook.webhook_sources WHERE id = $1', [id])).rows[0];

beforeEach(async () => {
  database = await createDatabase();
  owner = await database.owner();
});
afterEach(() => database.drop());

test('every field arrives', async () => {
  const row = sourceRow('shop', {
    name: 'Shop (EU)',
    signature: {
      scheme: 'hmac',
      hash: 'sha256',
      header: 'x-sig',
      encoding: 'hex',
      signed: [[{ from: 'body' }]],
      secret_encoding: 'utf8',
    },
    key: '{header.x-id}\n{body.a}:{body.b}',
    keyFormat: 'sha256',
    type: '{body.type}',
    object: '{body.object}',
    volatile: [['attempt'], ['meta', 'a.b']],
    toleranceSeconds: 90,
    leaseSeconds: 5,
    maxAttempts: 3,
    retentionDays: 400,
    ack: 'after-success',
    answers: { duplicate: { status: 200, body: "it's {{ 1+1 }} $1 \\" } },
    rules: { guard: true },
  });
  expect(await sync(row)).toMatchObject([{ id: 'shop', change: 'added' }]);
  expect(await stored('shop')).toMatchObject({
    name: 'Shop (EU)',
    provider: row.provider,
    signature: row.signature,
    key_recipe: row.key,
    key_format: 'sha256',
    type_recipe: '{body.type}',
    object_recipe: '{body.object}',
    volatile: [['attempt'], ['meta', 'a.b']],
    tolerance_seconds: 90,
    lease: { seconds: 5 },
    max_attempts: 3,
    retention: { days: 400 },
    ack: 'after-success',
    answers: row.answers,
    rules: row.rules,
    active: true,
  });
});

test('the same rows again change nothing, not even updated_at', async () => {
  await sync(sourceRow('shop'), sourceRow('bank'));
  const before = await stored('shop');
  expect(await sync(sourceRow('shop'), sourceRow('bank'))).toEqual([]);
  expect(await stored('shop')).toEqual(before);
});

test('a change names its fields, and a rename keeps the row', async () => {
  await sync(sourceRow('shop'));
  expect(await sync(sourceRow('shop', { name: 'store', leaseSeconds: 60, toleranceSeconds: 7 }))).toEqual([
    { id: 'shop', change: 'updated', fields: ['lease', 'name', 'tolerance_seconds'] },
  ]);
});

test('a source that left is switched off with its secrets kept, and comes back', async () => {
  await sync(sourceRow('shop'), sourceRow('bank'));
  await owner.query(
    "INSERT INTO oncehook.webhook_secrets (source_id, name, secret) VALUES ('shop', 's', 'x')",
  );
  expect(await sync(sourceRow('bank'))).toEqual([{ id: 'shop', change: 'switched off', fields: [] }]);
  expect(await sync(sourceRow('bank'))).toEqual([]);
  expect(await stored('shop')).toMatchObject({ active: false });
  expect(await sync(sourceRow('bank'), sourceRow('shop'))).toEqual([
    { id: 'shop', change: 'switched on', fields: [] },
  ]);
  expect((await owner.query('SELECT FROM oncehook.webhook_secrets')).rowCount).toBe(1);
});

test('no source at all switches every one off', async () => {
  await sync(sourceRow('shop'), sourceRow('bank'));
  expect((await sync()).map(({ change }) => change)).toEqual(['switched off', 'switched off']);
});

test('two names can be exchanged', async () => {
  await sync(sourceRow('a', { name: 'one' }), sourceRow('b', { name: 'two' }));
  await sync(sourceRow('a', { name: 'two' }), sourceRow('b', { name: 'one' }));
  expect([(await stored('a')).name, (await stored('b')).name]).toEqual(['two', 'one']);
});

describe('a source whose sender signs with SHA-1', () => {
  const row = sourceRow('sha1', {
    signature: {
      scheme: 'hmac',
      hash: 'sha1',
      header: 'x',
      encoding: 'hex',
      secret_encoding: 'utf8',
      signed: [[{ from: 'body' }]],
    },
  });
  const home = async () =>
    (
      await owner.query(
        "SELECT extnamespace::regnamespace::text AS home FROM pg_extension WHERE extname = 'pgcrypto'",
      )
    ).rows[0]?.home;

  test('brings pgcrypto with it, unless it is there', async () => {
    await sync(sourceRow('other'));
    expect(await home()).toBeUndefined();
    await sync(row);
    expect(await home()).toBe('oncehook_pgcrypto');
    await owner.query('DROP EXTENSION pgcrypto; CREATE EXTENSION pgcrypto SCHEMA public');
    await sync(row);
    expect(await home()).toBe('public');
  });

  test('is refused with what to do where it may not be made', async () => {
    await owner.query(`REVOKE CREATE ON DATABASE ${database.name} FROM CURRENT_USER`);
    const issues = await sync(row).then(
      () => [],
      (error: unknown) => (error instanceof UserError ? error.issues : [String(error)]),
    );
    expect(issues).toMatchObject([{ remedy: expect.stringContaining('CREATE EXTENSION pgcrypto') }]);
  });
});
