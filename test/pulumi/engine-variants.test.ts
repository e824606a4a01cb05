import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import type { PostgresVersion } from '../../src/ledger/embedded/binaries.ts';
import { migrate } from '../../src/ledger/migrate.ts';
import { ensureN8nRole } from '../../src/ledger/n8n-role.ts';
import { addSecret } from '../../src/ledger/secrets.ts';
import { syncSources } from '../../src/ledger/sources.ts';
import { sourceRow } from '../postgres/harness/source-row.ts';
import { connectAsN8n, deliverSigned, WALKED, walkGate } from './harness/n8n.ts';
import { openStage, type Stage, why } from './harness/stage.ts';

/** One server and stack for the tests of a block, each of which finds both as new. */
function useStage(version: PostgresVersion): () => Stage {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(version);
  });
  afterAll(() => stage?.close());
  afterEach(async () => {
    await stage.server.wipe();
    await stage.server.sql('postgres', 'ALTER ROLE admin CREATEDB CREATEROLE');
    stage.stack.forget();
  });
  return () => stage;
}

async function upAndWalk({ stack, secret }: Stage): Promise<string> {
  const up = await stack.up();
  expect(up.code, why(up)).toBe(0);
  const n8n = await connectAsN8n(stack);
  expect(await walkGate(n8n, secret, 'evt-1')).toEqual(WALKED);
  await n8n.end();
  const preview = await stack.preview('--expect-no-changes');
  expect(preview.code, why(preview)).toBe(0);
  return up.output;
}

// Until Postgres 15 whoever may create roles may use each of them; from 16 on, what they made alone.
describe.skipIf(!inject('tools')).each([14, 18] as const)('without CREATEDB, on Postgres %i', (version) => {
  const stage = useStage(version);

  test('a database that the service made, roles of our own', async () => {
    const { server, stack } = stage();
    await server.sql('postgres', 'CREATE DATABASE given OWNER admin', 'ALTER ROLE admin NOCREATEDB');
    await stack.configure({ database: 'given', createDatabase: false, createRoles: true, keepData: false });
    await upAndWalk(stage());
    const destroy = await stack.destroy();
    expect(destroy.code, why(destroy)).toBe(0);
    expect(await server.sql('given', "SELECT FROM pg_namespace WHERE nspname = 'oncehook'")).toEqual([]);
    expect(await server.sql('postgres', "SELECT FROM pg_roles WHERE rolname ~ '^(given|oncehook)'")).toEqual(
      [],
    );
  });
});

describe.skipIf(!inject('tools'))('without CREATEDB and CREATEROLE', () => {
  const stage = useStage(18);

  test('a database and a role that the service made: it says which guarantees that costs', async () => {
    const { server, stack } = stage();
    await server.sql(
      'postgres',
      'CREATE DATABASE given OWNER admin',
      'ALTER ROLE admin NOCREATEDB NOCREATEROLE',
    );
    await stack.configure({ database: 'given', createDatabase: false, createRoles: false, keepData: true });
    expect(await upAndWalk(stage())).toMatch(/warning: n8n logs in as the owner/);
    expect((await stack.outputs())['user']).toBe('admin');
    const destroy = await stack.destroy();
    expect(destroy.code, why(destroy)).toBe(0);
    expect(await server.sql('given', 'SELECT FROM oncehook.webhook_events')).toHaveLength(1);
  });

  test('a database that the command line migrated goes on with its events', async () => {
    const { server, stack, secret } = stage();
    const password = 'the-password-before';
    await server.sql('postgres', 'CREATE DATABASE given OWNER admin');
    const url = server.url('given', server.admin);
    await migrate(url);
    const owner = await connect(url);
    await ensureN8nRole(owner, { password });
    await syncSources(owner, [sourceRow('shop', { key: '{body.event_id}' })]);
    await addSecret(owner, { sourceId: 'shop', name: 'by hand', key: Buffer.from(secret) });
    const before = await connect(server.url('given', { user: 'oncehook_n8n', password }));
    expect((await deliverSigned(before, secret, 'evt-before')).outcome).toBe('new');
    await before.end();
    await owner.end();

    await stack.configure(
      { database: 'given', createDatabase: false, createRoles: false, keepData: true },
      { n8nPassword: password },
    );
    await upAndWalk(stage());
    const n8n = await connectAsN8n(stack);
    expect((await deliverSigned(n8n, secret, 'evt-before')).outcome).toBe('duplicate');
    await n8n.end();
  });
});
