import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER_ROLE } from './harness/cluster.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { type Answer, claimText, deliver, fail, finish, only, sqlState } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('p');
});
afterAll(() => gate.database.drop());

const code = (sql: string): Promise<string> => sqlState(gate.n8n, sql);

test.each([
  'CREATE TABLE oncehook.x ()',
  'CREATE VIEW oncehook.x AS SELECT 1',
  'CREATE FUNCTION oncehook.x() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
  'CREATE TYPE oncehook.x AS (a int)',
  'CREATE OPERATOR oncehook.= (leftarg = text, rightarg = text, function = texteq)',
  'CREATE SEQUENCE oncehook.x',
  'CREATE INDEX x ON oncehook.webhook_events (id)',
  'CREATE TRIGGER x BEFORE UPDATE ON oncehook.webhook_events FOR EACH ROW EXECUTE FUNCTION oncehook.refuse_transition()',
  'CREATE RULE x AS ON UPDATE TO oncehook.webhook_events DO INSTEAD NOTHING',
  'CREATE POLICY x ON oncehook.webhook_events',
  'ALTER TABLE oncehook.webhook_events DISABLE TRIGGER webhook_events_guard',
  'ALTER TABLE oncehook.webhook_events ADD COLUMN x int',
  'ALTER TABLE oncehook.webhook_events OWNER TO oncehook_n8n',
  'ALTER TABLE oncehook.webhook_events RENAME TO x',
  'ALTER FUNCTION oncehook.finish(text, text) SECURITY INVOKER',
  'ALTER SCHEMA oncehook RENAME TO x',
  'DROP SCHEMA oncehook CASCADE',
  'DROP TRIGGER webhook_events_guard ON oncehook.webhook_events',
  'CREATE TEMP TABLE x () INHERITS (oncehook.webhook_events)',
  'REINDEX TABLE oncehook.webhook_events',
  "COMMENT ON TABLE oncehook.webhook_events IS 'x'",
  'CREATE SCHEMA x',
  'CREATE ROLE x',
  'ALTER ROLE oncehook_n8n SUPERUSER',
  'ALTER ROLE oncehook_n8n CREATEROLE',
  `ALTER ROLE ${OWNER_ROLE} PASSWORD 'x'`,
  `SET ROLE ${OWNER_ROLE}`,
  `SET SESSION AUTHORIZATION ${OWNER_ROLE}`,
  `GRANT ${OWNER_ROLE} TO oncehook_n8n`,
  'SET session_replication_role = replica',
  "COPY (SELECT 1) TO '/tmp/x'",
  "COPY (SELECT 1) TO PROGRAM 'true'",
  "SELECT pg_read_file('postgresql.conf')",
  'SELECT * FROM pg_authid',
  ...['ACCESS SHARE', 'ROW SHARE', 'ROW EXCLUSIVE', 'SHARE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE'].map(
    (mode) => `LOCK TABLE oncehook.webhook_events IN ${mode} MODE`,
  ),
])('n8n cannot %s', async (sql) => {
  expect(await code(sql)).toBe('42501');
});

test("n8n cannot see what other roles' sessions run, nor end them", async () => {
  const { rows } = await gate.n8n.query(
    'SELECT pid, query FROM pg_stat_activity WHERE usename = $1 AND datname = current_database()',
    [OWNER_ROLE],
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const { pid, query } of rows) {
    expect(query).toBe('<insufficient privilege>');
    expect(await code(`SELECT pg_terminate_backend(${pid})`)).toBe('42501');
  }
});

test('objects of its own stand in for nothing: temporary, or in a schema that it may write to', async () => {
  await gate.owner.query('CREATE SCHEMA evil');
  await gate.owner.query('GRANT ALL ON SCHEMA evil TO oncehook_n8n');
  const client = await gate.database.n8n();
  const held = await gate.send('p', { id: 'shadow' });
  for (const schema of ['evil', 'pg_temp']) {
    await client.query(`
      CREATE TABLE ${schema}.webhook_sources (id text);
      CREATE TABLE ${schema}.webhook_secrets (id text);
      CREATE TABLE ${schema}.pg_proc (oid oid);
      CREATE FUNCTION ${schema}.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT ''::bytea $$;
      CREATE FUNCTION ${schema}.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT 'infinity'::timestamptz $$;
      CREATE FUNCTION ${schema}.has_table_privilege(name, text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
      CREATE FUNCTION ${schema}.verify(text, jsonb, bytea, timestamptz) RETURNS text LANGUAGE sql AS $$ SELECT NULL::text $$;
      CREATE FUNCTION ${schema}.yes(bytea, bytea) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
      CREATE FUNCTION ${schema}.yes(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
      CREATE FUNCTION ${schema}.yes(timestamptz, timestamptz) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
      CREATE OPERATOR ${schema}.= (leftarg = bytea, rightarg = bytea, function = ${schema}.yes);
      CREATE OPERATOR ${schema}.= (leftarg = text, rightarg = text, function = ${schema}.yes);
      CREATE OPERATOR ${schema}.< (leftarg = timestamptz, rightarg = timestamptz, function = ${schema}.yes);
      CREATE DOMAIN ${schema}.text AS pg_catalog.text;
      SET search_path = ${schema}, oncehook, pg_catalog`);
    const forged = { source: 'p', body: '{"id":"forged"}', headers: { 'x-signature': '0'.repeat(64) } };
    expect(await deliver(client, forged)).toMatchObject({ outcome: 'rejected' });
    expect((await finish(client, { key: 'p:shadow', claim: 'x' })).status).toBe('overtaken');
    // Its own `<` says that the lease has lapsed; the guard asks its own.
    const taken = claimText({
      source: 'p',
      body: '{"id":"shadow"}',
      headers: gate.sign('p', '{"id":"shadow"}'),
    }).replaceAll('d.key IS NOT NULL', 'true');
    const outcome = await only<Answer>(client, taken).then(
      (row) => row.outcome,
      (error: pg.DatabaseError) => error.code,
    );
    expect(['duplicate', '42501', '23502']).toContain(outcome);
    const direct = await client
      .query(`UPDATE oncehook.webhook_events SET status = 'processing', attempts = attempts + 1, claim_hash = '\\x01', locked_until = pg_catalog.now() + '1 min'
              WHERE idempotency_key OPERATOR(pg_catalog.=) 'p:shadow'`)
      .catch((error: pg.DatabaseError) => error);
    expect(direct).toMatchObject({ code: '42501' });
    await client.query('RESET search_path');
  }
  expect(await gate.event('p:shadow')).toMatchObject({ status: 'processing', attempts: 1 });
  expect((await finish(gate.n8n, held)).status).toBe('success');
});

test('what its role pins holds against the defaults of the database', async () => {
  await gate.owner.query(`ALTER DATABASE ${gate.database.name} SET synchronous_commit = off`);
  await gate.owner.query(
    `ALTER DATABASE ${gate.database.name} SET default_transaction_isolation = 'serializable'`,
  );
  await gate.owner.query(`ALTER DATABASE ${gate.database.name} SET lock_timeout = 0`);
  const client = await gate.database.n8n();
  const settings = [
    'synchronous_commit',
    'transaction_isolation',
    'lock_timeout',
    'statement_timeout',
    'idle_in_transaction_session_timeout',
  ];
  const { rows } = await client.query(
    `SELECT ${settings.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`,
  );
  expect(rows).toEqual([
    {
      synchronous_commit: 'off',
      transaction_isolation: 'read committed',
      lock_timeout: '2s',
      statement_timeout: '20s',
      idle_in_transaction_session_timeout: '30s',
    },
  ]);
  const signed = (body: string) => ({ source: 'p', body, headers: gate.sign('p', body) });
  /** Whether what the statements did will be on disk when their transaction has ended. */
  const durable = async (...work: (() => Promise<unknown>)[]) => {
    await client.query('BEGIN');
    for (const step of work) await step();
    const { rows } = await client.query('SHOW synchronous_commit');
    await client.query('COMMIT');
    return rows[0].synchronous_commit === 'on';
  };
  const claim = (id: string) => () => deliver(client, signed(`{"id":"${id}"}`));
  const first = await claim('s1')();
  expect(await durable(claim('s2')), 'new').toBe(true);
  expect(await durable(() => deliver(client, signed('{}'))), 'unkeyed').toBe(true);
  expect(await durable(() => finish(client, first)), 'finish').toBe(true);
  expect(await durable(() => fail(client, 'p')), 'fail').toBe(true);
  expect(await durable(claim('s2')), 'reclaimed').toBe(true);
  // What only counts may be lost with the server, but takes no claim along that shares its transaction.
  expect(await durable(claim('s1')), 'duplicate').toBe(false);
  expect(await durable(() => deliver(client, { source: 'p' })), 'rejected').toBe(false);
  expect(await durable(claim('s3'), claim('s1'), () => deliver(client, { source: 'p' })), 'batch').toBe(true);
  expect(await durable(claim('s1'), claim('s4')), 'batch').toBe(true);
});

test('all of it works without any extension, and as no superuser', async () => {
  const { rows } = await gate.owner.query('SELECT extname FROM pg_extension');
  expect(rows).toEqual([{ extname: 'plpgsql' }]);
  const { rows: owners } = await gate.owner.query(
    `SELECT DISTINCT pg_get_userbyid(proowner) AS owner, rolsuper FROM pg_proc JOIN pg_roles r ON r.oid = proowner
     WHERE pronamespace = 'oncehook'::regnamespace`,
  );
  expect(owners).toEqual([{ owner: OWNER_ROLE, rolsuper: false }]);
  const { rows: unsafe } = await gate.owner.query(
    `SELECT proname FROM pg_proc WHERE pronamespace = 'oncehook'::regnamespace AND prosecdef
       AND NOT coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'`,
  );
  expect(unsafe).toEqual([]);
});
