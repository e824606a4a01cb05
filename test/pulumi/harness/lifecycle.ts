import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connect } from '../../../src/ledger/connect.ts';
import type { PostgresVersion } from '../../../src/ledger/embedded/binaries.ts';
import { sqlState } from '../../postgres/harness/gate-statements.ts';
import { leaks } from './leaks.ts';
import { connectAsN8n, deliverSigned, WALKED, walkGate } from './n8n.ts';
import { openStage, type Stage, why } from './stage.ts';

const ROUNDS = 10;

/** A stack from its first `up` to its end, on one version of Postgres; each test goes on where the last one ended. */
export function lifecycle(version: PostgresVersion): void {
  describe.skipIf(!inject('tools'))(`on Postgres ${version}, as an admin without superuser`, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage(version);
    });
    afterAll(() => stage?.close());

    test(`${ROUNDS} fresh ups in a row: none fails`, { timeout: 60_000 * ROUNDS }, async () => {
      const { server, stack } = stage;
      for (let round = 1; round <= ROUNDS; round += 1) {
        await server.wipe();
        stack.forget();
        const up = await stack.up();
        expect(up.code, `round ${round} ${why(up)}`).toBe(0);
        expect(Object.keys(up.changes ?? {})).toEqual(['create']);
      }
    });

    test('nothing is left to do: refresh, preview, a second up', async () => {
      const { stack } = stage;
      const refresh = await stack.refresh('--expect-no-changes');
      expect(refresh.code, why(refresh)).toBe(0);
      const preview = await stack.preview('--expect-no-changes');
      expect(preview.code, why(preview)).toBe(0);
      const again = await stack.up();
      expect(Object.keys(again.changes ?? {}), why(again)).toEqual(['same']);
    });

    test('the gate runs with the role of the outputs', async () => {
      const n8n = await connectAsN8n(stage.stack);
      try {
        expect(await walkGate(n8n, stage.secret, 'evt-1')).toEqual(WALKED);
        for (const [setting, value] of [
          ['transaction_isolation', 'read committed'],
          ['lock_timeout', '2s'],
          ['statement_timeout', '20s'],
        ]) {
          expect((await n8n.query(`SHOW ${setting}`)).rows[0]).toEqual({ [setting ?? '']: value });
        }
      } finally {
        await n8n.end();
      }
    });

    test('what the role must not do fails', async () => {
      const n8n = await connectAsN8n(stage.stack);
      try {
        for (const sql of [
          'SELECT * FROM oncehook.webhook_secrets',
          'SELECT * FROM oncehook.webhook_sources',
          'SELECT body FROM oncehook.webhook_events',
          'DELETE FROM oncehook.webhook_events',
          "UPDATE oncehook.webhook_events SET status = 'success'",
          'CREATE TABLE oncehook.mine ()',
          'CREATE SCHEMA mine',
          'CREATE TEMP TABLE mine ()',
          'ALTER TABLE oncehook.webhook_events DISABLE TRIGGER ALL',
          'DROP SCHEMA oncehook CASCADE',
          'CREATE ROLE mine',
          'CREATE DATABASE mine',
          'SET ROLE oncehook_owner',
        ]) {
          // 25001: refused in a transaction, before rights are looked at.
          expect(await sqlState(n8n, sql), sql).toMatch(
            sql.startsWith('CREATE DATABASE') ? /42501|25001/ : /42501/,
          );
        }
      } finally {
        await n8n.end();
      }
    });

    test('nobody else has any right', async () => {
      const { server } = stage;
      await server.sql('postgres', 'CREATE ROLE stranger LOGIN');
      const [rights] = await server.sql(
        'oncehook',
        `SELECT has_database_privilege('stranger', 'oncehook', 'CONNECT, TEMPORARY, CREATE') AS database,
           has_schema_privilege('stranger', 'oncehook', 'USAGE, CREATE') AS schema,
           has_schema_privilege('stranger', 'public', 'CREATE') AS public,
           (SELECT count(*)::int FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
            WHERE nspname = 'oncehook' AND has_function_privilege('stranger', p.oid, 'EXECUTE')) AS functions,
           (SELECT count(*)::int FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
            WHERE nspname = 'oncehook' AND relkind IN ('r', 'v') AND has_table_privilege('stranger', c.oid, 'SELECT, INSERT, UPDATE, DELETE')) AS tables`,
      );
      // Before Postgres 15 only a superuser can take the schema public from everybody.
      expect(rights).toEqual({
        database: false,
        schema: false,
        public: version < 15,
        functions: 0,
        tables: 0,
      });
    });

    test('a new migration is one update', async () => {
      const { stack, project } = stage;
      const folder = join(project.folder, 'templates/migrations');
      const number = String(readdirSync(folder).length + 1).padStart(4, '0');
      writeFileSync(join(folder, `${number}_engine_test.sql`), 'CREATE TABLE oncehook.engine_test ();\n');
      const up = await stack.up();
      expect(up.code, why(up)).toBe(0);
      expect(up.steps.map(({ op }) => op)).toEqual(['update']);
    });

    test('changed passwords are updates: n8n logs in with the new one alone', async () => {
      const { stack, server, secret } = stage;
      const old = await stack.outputs();
      await stack.configure({ passwordVersion: 2 });
      const up = await stack.up();
      expect(up.code, why(up)).toBe(0);
      expect(new Set(up.steps.map(({ op }) => op))).toEqual(new Set(['update']));
      const n8n = await connectAsN8n(stack);
      expect((await deliverSigned(n8n, secret, 'evt-2')).outcome).toBe('new');
      await n8n.end();
      const { user, password } = old as { user: string; password: string };
      expect((await stack.outputs())['password']).not.toBe(password);
      await expect(connect(server.url('oncehook', { user, password }))).rejects.toMatchObject({
        name: 'UserError',
      });
    });

    test('destroy keeps the data and n8n going, and the next up takes all of it over', async () => {
      const { stack, server, secret } = stage;
      const before = await connectAsN8n(stack);
      const destroy = await stack.destroy();
      expect(destroy.code, why(destroy)).toBe(0);
      expect(destroy.output).toContain('keepData');
      expect((await deliverSigned(before, secret, 'evt-2')).outcome).toBe('duplicate');
      await before.end();

      const up = await stack.up();
      expect(up.code, why(up)).toBe(0);
      const n8n = await connectAsN8n(stack);
      expect((await deliverSigned(n8n, secret, 'evt-2')).outcome).toBe('duplicate');
      await n8n.end();
      expect(await server.sql('oncehook', 'SELECT FROM oncehook.webhook_events')).toHaveLength(2);
    });

    test('no secret stands in clear in the state, in the logs, or in the server’s log', async () => {
      const { stack, server, project, secret } = stage;
      const outputs = (await stack.outputs()) as Record<string, string>;
      const secrets = {
        'signing secret': secret,
        'admin password': server.admin.password,
        'n8n password': outputs['password'] ?? '',
        'owner password': new URL(outputs['databaseUrl'] ?? '').password,
        passphrase: project.passphrase,
      };
      expect(leaks(stack.stateFile(), secrets)).toEqual([]);
      expect(leaks(project.transcript(), secrets)).toEqual([]);
      // The superuser's own statement made the admin.
      const log = server.log().replaceAll(/^.*CREATE ROLE admin.*$/gm, '');
      expect(log).toContain('CREATE ROLE');
      expect(leaks(log, secrets)).toEqual([]);
    });

    test('destroy removes everything where it is told to', async () => {
      const { stack, server } = stage;
      await stack.configure({ keepData: false });
      const up = await stack.up();
      expect(up.code, why(up)).toBe(0);
      // What was taken over is as the program wants it.
      expect(up.steps.filter(({ op }) => op !== 'update')).toEqual([]);
      const n8n = await connectAsN8n(stack);
      n8n.on('error', () => {});
      const destroy = await stack.destroy();
      await n8n.end().catch(() => {});
      expect(destroy.code, why(destroy)).toBe(0);
      const left = await server.sql(
        'postgres',
        "SELECT rolname AS name FROM pg_roles WHERE rolname LIKE 'oncehook%' UNION SELECT datname FROM pg_database WHERE datname = 'oncehook'",
      );
      expect(left).toEqual([]);
    });
  });
}
