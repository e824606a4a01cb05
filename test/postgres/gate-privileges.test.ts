import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Gate } from './harness/gate.ts';
import { failedEvent, openStage } from './harness/gate-stage.ts';
import { type Answer, sqlState } from './harness/gate-statements.ts';

let gate: Gate;
let n8n: pg.Client;
let held: Answer;
let failed: Answer;
let final: Answer;
beforeAll(async () => {
  ({ gate, held, final } = await openStage());
  n8n = gate.n8n;
});
beforeEach(async () => {
  failed = await failedEvent(gate);
});
afterAll(() => gate.database.drop());

const DENIED = '42501';
const code = (sql: string): Promise<string> => sqlState(n8n, sql);

test('the grants are these and no others', async () => {
  const { rows: columns } = await gate.owner.query(
    `SELECT privilege_type AS right, table_name AS table, string_agg(column_name, ' ' ORDER BY column_name) AS columns
     FROM information_schema.column_privileges WHERE table_schema = 'oncehook' AND grantee IN ('oncehook_n8n', 'PUBLIC')
     GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  const table = 'webhook_events';
  const taken =
    'attempts claim_hash claimed_at execution_id instance item locked_until next_attempt_at status workflow';
  const came =
    'body body_sha256 claim_hash content_type event_type execution_id external_id headers idempotency_key instance';
  expect(columns).toEqual([
    {
      right: 'INSERT',
      table,
      columns: `${came} item locked_until next_attempt_at object_id payload query source workflow`,
    },
    { right: 'SELECT', table, columns: 'attempts claim_hash idempotency_key item locked_until' },
    { right: 'UPDATE', table, columns: taken },
  ]);
  const { rows: functions } = await n8n.query(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p WHERE pronamespace = 'oncehook'::regnamespace
       AND has_function_privilege(p.oid, 'EXECUTE') ORDER BY 1`,
  );
  expect(functions.map(({ name }) => name.replace(/\(.*/, ''))).toEqual(
    [
      ...[
        'fail',
        'finish',
        'receive',
        'receive_delivery',
        'receive_fetched',
        'receive_items',
        'replay',
        'replay_delivery',
      ],
      ...['report', 'report_delivery', 'report_fetched', 'report_items'],
    ].map((name) => `oncehook.${name}`),
  );
  const { rows: tables } = await n8n.query(
    `SELECT c.relname FROM pg_class c WHERE relnamespace = 'oncehook'::regnamespace AND relkind IN ('r', 'v', 'S', 'p', 'm')
       AND (CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE, SELECT, UPDATE')
            ELSE has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') END)`,
  );
  expect(tables).toEqual([]);
});

test.each([
  'webhook_secrets',
  'webhook_sources',
  'webhook_duplicates',
  'webhook_dead_letters',
  'webhook_rejections',
  'webhook_totals',
  'webhook_ledger',
  'webhook_metrics',
  'migrations',
  'webhook_events',
])('it cannot read %s, nor write what it likes into it', async (table) => {
  // A view, and a row without a body, are refused before rights are looked at.
  for (const sql of [
    `SELECT * FROM oncehook.${table}`,
    `SELECT t FROM oncehook.${table} t`,
    `TABLE oncehook.${table}`,
    `COPY oncehook.${table} TO STDOUT`,
    `DELETE FROM oncehook.${table}`,
    `TRUNCATE oncehook.${table}`,
    `INSERT INTO oncehook.${table} DEFAULT VALUES`,
    `CREATE TEMP VIEW v AS SELECT * FROM oncehook.${table}; SELECT * FROM v`,
    `DROP ${table.endsWith('ledger') || table.endsWith('metrics') ? 'VIEW' : 'TABLE'} oncehook.${table} CASCADE`,
    `GRANT SELECT ON oncehook.${table} TO PUBLIC`,
  ])
    expect(await code(sql), sql).toMatch(/42501|55000|42809|23502/);
});

test.each([
  'id',
  'body',
  'body_sha256',
  'payload',
  'headers',
  'query',
  'source',
  'status',
  'execution_id',
  'instance',
  'workflow',
  'error',
])('it cannot read %s of an event by any statement', async (column) => {
  for (const sql of [
    `SELECT ${column} FROM oncehook.webhook_events`,
    `SELECT 1 FROM oncehook.webhook_events WHERE ${column} IS NOT NULL`,
    `SELECT attempts FROM oncehook.webhook_events ORDER BY ${column}`,
    `UPDATE oncehook.webhook_events SET workflow = 'x' WHERE attempts = 0 RETURNING ${column}`,
    `UPDATE oncehook.webhook_events SET workflow = ${column}::text WHERE attempts = 0`,
    `INSERT INTO oncehook.webhook_events AS e (idempotency_key, source, body, body_sha256, locked_until) VALUES ('k', 's', '', '', now())
       ON CONFLICT (idempotency_key) DO UPDATE SET workflow = e.${column}::text`,
  ])
    expect(await code(sql), sql).toBe(DENIED);
});

describe('it cannot change an event but by taking it over', () => {
  const set = (change: string, row: Answer) =>
    code(`UPDATE oncehook.webhook_events SET ${change} WHERE idempotency_key = '${row.key}'`);
  const takeover =
    "status = 'processing', attempts = attempts + 1, claim_hash = '\\x01', locked_until = now() + interval '1 min'";

  test('the takeover itself is allowed where the lock has ended, and only there', async () => {
    expect(await set(takeover, failed)).toBe('');
    expect(await set(takeover, held)).toBe(DENIED);
    expect(await set(takeover, final)).toBe(DENIED);
  });

  test.each([
    "status = 'success', locked_until = 'infinity'",
    "status = 'dead', locked_until = 'infinity'",
    "status = 'failed', locked_until = '-infinity'",
    "locked_until = '-infinity'",
    "locked_until = 'infinity'",
    'attempts = 0',
    'attempts = attempts + 1',
    "claim_hash = '\\x00'",
    "workflow = 'x'",
    'next_attempt_at = NULL',
    'claimed_at = now()',
    takeover.replace('attempts + 1', 'attempts + 2'),
    takeover.replace('attempts + 1', 'attempts'),
    takeover.replace('attempts + 1', '0'),
    takeover.replace(", claim_hash = '\\x01'", ''),
    takeover.replace("'processing'", "'received'"),
    takeover.replace("now() + interval '1 min'", "'infinity'"),
  ])('%s', async (change) => {
    for (const row of [held, failed, final]) expect(await set(change, row)).toMatch(/42501|23514/);
  });

  test.each([
    'id = DEFAULT',
    "idempotency_key = 'p:x'",
    "source = 'x'",
    "event_type = 'x'",
    "external_id = 'x'",
    "object_id = 'x'",
    "body = ''",
    "body_sha256 = ''",
    "payload = '{}'",
    "headers = '{}'",
    'first_seen_at = now()',
    'processed_at = now()',
    'overruns = 0',
    'replays = 0',
    "error = 'x'",
  ])('%s, not even in a takeover', async (change) => {
    expect(await set(change, failed)).toBe(DENIED);
    expect(await set(`${takeover}, ${change}`, failed)).toBe(DENIED);
  });

  test('an event that it invents starts as every other: processing, the first attempt', async () => {
    const insert = (columns: string, values: string) =>
      code(
        `INSERT INTO oncehook.webhook_events (idempotency_key, source, body, body_sha256${columns}) VALUES ('p:new', 'p', '', ''${values})`,
      );
    expect(await insert(', locked_until', ', now()')).toBe('');
    expect(await insert(', locked_until', ", 'infinity'")).toBe('23514');
    for (const column of [
      'status',
      'attempts',
      'first_seen_at',
      'processed_at',
      'replays',
      'overruns',
      'error',
      'id',
      'claimed_at',
    ])
      expect(await insert(`, locked_until, ${column}`, ', now(), DEFAULT'), column).toBe(DENIED);
  });
});
