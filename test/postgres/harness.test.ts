import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from './harness/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('the owner of the tests is no superuser, and n8n has the pinned settings', async () => {
  const owner = await database.owner();
  const { rows: roles } = await owner.query('SELECT rolsuper FROM pg_roles WHERE rolname = current_user');
  expect(roles).toEqual([{ rolsuper: false }]);
  const n8n = await database.n8n();
  const { rows } = await n8n.query(
    "SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement",
  );
  expect(rows).toEqual([{ lock: '2s', statement: '20s' }]);
});
