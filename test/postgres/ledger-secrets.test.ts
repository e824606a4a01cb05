import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addSecret, listSecrets, type NewSecret, retireSecret } from '../../src/ledger/secrets.ts';
import { syncSources } from '../../src/ledger/sources.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';
import { sourceRow } from './harness/source-row.ts';

let database: TestDatabase;
let owner: pg.Client;
const add = (name: string, key: string, more: Partial<NewSecret> = {}) =>
  addSecret(owner, { sourceId: 'shop', name, key: Buffer.from(key, 'latin1'), ...more });
const names = async () =>
  (await listSecrets(owner, 'shop')).map(({ name, retiredAt }) => (retiredAt ? `(${name})` : name));

beforeEach(async () => {
  database = await createDatabase();
  owner = await database.owner();
  await syncSources(owner, [sourceRow('shop'), sourceRow('bank')]);
});
afterEach(() => database.drop());

test('the bytes arrive as they are', async () => {
  await add('BYTES', '\x00\xff\\x41');
  const { rows } = await owner.query('SELECT secret FROM oncehook.webhook_secrets');
  expect(rows).toEqual([{ secret: Buffer.from('\x00\xff\\x41', 'latin1') }]);
});

test('a value is stored once, whatever its name', async () => {
  expect(await add('ONE', 'value')).toEqual({ name: 'ONE', change: 'added' });
  expect(await add('ONE', 'value')).toEqual({ name: 'ONE', change: 'kept' });
  expect(await add('OTHER', 'value')).toEqual({ name: 'ONE', change: 'kept' });
  expect(await names()).toEqual(['ONE']);
});

test('sources do not share names or values', async () => {
  await add('ONE', 'value');
  expect(await add('ONE', 'value', { sourceId: 'bank' })).toMatchObject({ change: 'added' });
  expect(await listSecrets(owner)).toMatchObject([{ source: 'bank' }, { source: 'shop' }]);
});

test('a name that stands for another secret is refused', async () => {
  await add('ONE', 'value');
  await expect(add('ONE', 'new value')).rejects.toMatchObject({ name: 'UserError' });
  expect(await names()).toEqual(['ONE']);
});

test('on request the old secret keeps living beside the new one, under a name of its own', async () => {
  await add('ONE', 'value');
  const change = await add('ONE', 'new value', { whenNameTaken: 'keep-old' });
  expect(change).toMatchObject({ name: 'ONE', change: 'added', renamed: expect.stringContaining('ONE') });
  expect((await names()).sort()).toEqual(['ONE', change.renamed].sort());
  const { rows } = await owner.query("SELECT secret FROM oncehook.webhook_secrets WHERE name = 'ONE'");
  expect(rows).toEqual([{ secret: Buffer.from('new value') }]);
});

test('a retired secret can be taken back', async () => {
  await add('ONE', 'value');
  await add('TWO', 'second');
  expect(await retireSecret(owner, 'shop', 'ONE')).toBe(true);
  expect(await retireSecret(owner, 'shop', 'ONE')).toBe(false);
  expect(await names()).toEqual(['(ONE)', 'TWO']);
  expect(await add('ELSE', 'value')).toEqual({ name: 'ONE', change: 'taken back' });
  expect(await names()).toEqual(['ONE', 'TWO']);
});

test('the last live secret is retired only on request', async () => {
  await add('ONE', 'value');
  await expect(retireSecret(owner, 'shop', 'ONE')).rejects.toMatchObject({ name: 'UserError' });
  expect(await retireSecret(owner, 'shop', 'ONE', { evenLast: true })).toBe(true);
});

test('what is wrong is named, and never the value', async () => {
  await add('ONE', 'value');
  const failures = [
    () => add('EMPTY', ''),
    () => add('', 'hush'),
    () => add(' blank', 'hush'),
    () => add('line\nbreak', 'hush'),
    () => add('ONE', 'hush'),
    () => add('NEW', 'hush', { sourceId: 'nowhere' }),
    () => retireSecret(owner, 'shop', 'UNKNOWN'),
  ];
  for (const failure of failures) {
    const error = await failure().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'UserError' });
    expect(String((error as Error).message)).not.toContain('hush');
  }
  expect(await names()).toEqual(['ONE']);
});

test('lists hold no value', async () => {
  await add('ONE', 'hush');
  const text = JSON.stringify(await listSecrets(owner));
  for (const form of ['hush', Buffer.from('hush').toString('hex'), Buffer.from('hush').toString('base64')]) {
    expect(text).not.toContain(form);
  }
});
