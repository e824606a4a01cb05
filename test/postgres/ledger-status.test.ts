import { afterAll, beforeAll, expect, test } from 'vitest';
import { addSecret } from '../../src/ledger/secrets.ts';
import { syncSources } from '../../src/ledger/sources.ts';
import { readStatus } from '../../src/ledger/status.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';
import { sourceRow } from './harness/source-row.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('each source with its counts and its last events, newest first', async () => {
  const owner = await database.owner();
  await syncSources(owner, [sourceRow('shop'), sourceRow('bank')]);
  await syncSources(owner, [sourceRow('shop')]);
  await addSecret(owner, { sourceId: 'shop', name: 'ONE', key: Buffer.from('x') });
  await owner.query(
    `INSERT INTO oncehook.webhook_events
       (idempotency_key, source, event_type, status, attempts, locked_until, next_attempt_at, error, body, body_sha256)
     VALUES
       ('shop:1', 'shop', 'paid', 'success', 1, 'infinity', NULL, NULL, '', ''),
       ('shop:2', 'shop', 'paid', 'processing', 2, now() - interval '1 hour', now(), NULL, '', ''),
       ('shop:3', 'shop', NULL, 'failed', 3, '-infinity', now(), 'boom', '', '')`,
  );
  await owner.query(
    `INSERT INTO oncehook.webhook_duplicates (event_id, source, outcome)
     SELECT id, source, o FROM oncehook.webhook_events, unnest(ARRAY['duplicate', 'duplicate', 'mismatch']) AS o
     WHERE idempotency_key = 'shop:1'`,
  );
  await owner.query(
    `INSERT INTO oncehook.webhook_rejections (source, reason, hour, shard, count)
     VALUES ('shop', 'signature wrong', date_trunc('hour', now()), 1, 5), ('shop', 'signature wrong', date_trunc('hour', now()), 2, 6),
            ('shop', 'signature wrong', now() - interval '3 days', 1, 100)`,
  );
  await owner.query(
    `INSERT INTO oncehook.webhook_dead_letters (source, kind, reason, body, body_sha256, resolved_at)
     VALUES ('shop', 'reception', 'no id', 'a', 'a', NULL), ('shop', 'reception', 'no id', 'b', 'b', now())`,
  );
  const [bank, shop] = await readStatus(owner, { events: 2 });
  expect(bank).toMatchObject({ id: 'bank', active: false, liveSecrets: 0, events: {}, lastEvents: [] });
  expect(shop).toMatchObject({
    id: 'shop',
    active: true,
    liveSecrets: 1,
    events: { success: 1, processing: 1, failed: 1 },
    lapsed: 1,
    duplicates: 2,
    mismatches: 1,
    rejections: { 'signature wrong': 11 },
    deadLetters: 1,
    lastEvents: [
      { key: 'shop:3', status: 'failed', attempts: 3, error: 'boom', type: null },
      { key: 'shop:2', status: 'lapsed', attempts: 2, error: null, type: 'paid' },
    ],
  });
});

test('what is not done goes before what is, however old', async () => {
  const owner = await database.owner();
  await syncSources(owner, [sourceRow('busy')]);
  await owner.query(
    `INSERT INTO oncehook.webhook_events
       (idempotency_key, source, event_type, status, attempts, locked_until, next_attempt_at, error, body, body_sha256)
     SELECT 'busy:' || n, 'busy', 'paid', s, 1, l::timestamptz, CASE WHEN s IN ('processing', 'failed') THEN now() END, NULL, '', ''
     FROM (VALUES (1, 'dead', 'infinity'), (2, 'success', 'infinity'), (3, 'failed', '-infinity'),
       (4, 'processing', 'yesterday'), (5, 'success', 'infinity'), (6, 'success', 'infinity')) AS v (n, s, l) ORDER BY n`,
  );
  const shown = async (events: number) =>
    (await readStatus(owner, { events })).find(({ id }) => id === 'busy')?.lastEvents.map(({ key }) => key);
  expect(await shown(4)).toEqual(['busy:4', 'busy:3', 'busy:1', 'busy:6']);
  expect(await shown(2)).toEqual(['busy:4', 'busy:3']);
});

test('a database that was not migrated says so', async () => {
  const empty = await createDatabase({ empty: true });
  await expect(readStatus(await empty.owner())).rejects.toMatchObject({ name: 'UserError' });
  await empty.drop();
});
