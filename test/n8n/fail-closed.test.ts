import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request as callN8n, listAll } from '../../src/n8n/connection.ts';
import { ensurePostgresCredential } from '../../src/n8n/credentials.ts';
import type { WorkflowNode } from '../../src/workflow/types.ts';
import { mapNode } from './harness/business.ts';
import type { Answer } from './harness/deliver.ts';
import { type Postgres, startPostgres } from './harness/postgres.ts';
import { startSilentServer } from './harness/silent.ts';
import type { Request, TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, n8nLogin, type World } from './harness/world.ts';

let folder: string;
let postgres: Postgres;
let world: World;
let shop: TestSource;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oncehook-closed-'));
  // A server of its own, because these tests stop it.
  postgres = await startPostgres(folder);
  world = await createWorld({
    name: 'closed',
    postgresUrl: postgres.urlFor('postgres'),
    sources: '  shop: { provider: custom, path: closed/shop, secrets: [FIRST_SECRET] }\n',
  });
  shop = world.source('shop');
});
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

function expectUnavailable(answer: Answer): void {
  expect(answer).toMatchObject({ status: 503, outcome: 'unavailable' });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.parse(answer.body)).toEqual({ ok: false, error: 'unavailable' });
  expect(answer.took).toBeLessThan(5000);
}

async function expectDone(request: Request, outcome = 'new'): Promise<void> {
  const answer = await shop.deliver(request);
  expect(answer).toMatchObject({ status: 200, outcome });
  const key = shop.keyOf(answer);
  await waitFor('the event to be done', async () => (await shop.ledger(key))?.status === 'success');
  expect(await shop.effects(key)).toBe(1);
}

describe('a node that was spoilt', () => {
  const parameters = (replacement: string) => (node: WorkflowNode) => ({
    ...node,
    parameters: {
      ...node.parameters,
      options: { ...(node.parameters['options'] as object), queryReplacement: replacement },
    },
  });
  const spoilt: [what: string, node: string, change: (node: WorkflowNode) => WorkflowNode][] = [
    // An id of null would keep n8n from publishing at all.
    [
      'a credential that does not exist',
      'Claim event',
      (node) => ({ ...node, credentials: { postgres: { id: 'gone', name: 'Gone' } } }),
    ],
    ['"Claim event" switched off', 'Claim event', (node) => ({ ...node, disabled: true }) as WorkflowNode],
    ['an expression that throws', 'Claim event', parameters(`={{ [ $('No such node').first().json.a ] }}`)],
    ['a parameter that is undefined', 'Claim event', parameters('={{ [ $json.nothing, $json.at.all ] }}')],
    ['no parameters', 'Claim event', parameters('')],
    [
      'SQL that is wrong',
      'Claim event',
      (node) => ({ ...node, parameters: { ...node.parameters, query: 'SELECT 1 FROM nowhere' } }),
    ],
    [
      'a statement that gives no row',
      'Claim event',
      (node) => ({
        ...node,
        parameters: { ...node.parameters, query: 'SELECT $1::text WHERE false' },
      }),
    ],
    [
      'a recipe that is none',
      'Idempotency key',
      (node) => JSON.parse(JSON.stringify(node).replaceAll('{body.event_id}', '{body.event_id')),
    ],
    [
      'a source that is not in the ledger',
      'Idempotency key',
      (node) => JSON.parse(JSON.stringify(node).replace('"value":"shop"', '"value":"shopp"')),
    ],
  ];

  test.each(spoilt)('%s', async (_, name, change) => {
    const request = shop.event();
    await shop.replace(mapNode(shop.workflow, name, change));
    try {
      expectUnavailable(await shop.deliver(request));
    } finally {
      await shop.replace(shop.workflow);
    }
    await expectDone(request);
  });
});

test('"Raw body" switched off: the signature cannot be checked, and nothing is acknowledged', async () => {
  const request = shop.event();
  await shop.replace(
    mapNode(shop.workflow, 'Raw body', (node) => ({ ...node, disabled: true }) as WorkflowNode),
  );
  try {
    const answer = await shop.deliver(request);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.took).toBeLessThan(5000);
  } finally {
    await shop.replace(shop.workflow);
  }
  await expectDone(request);
});

test('no credential at all: n8n does not publish', async () => {
  const bare = mapNode(shop.workflow, 'Claim event', ({ credentials: _, ...node }) => node);
  await shop.unpublish();
  try {
    await shop.import('REST', bare);
    await expect(shop.publish()).rejects.toThrow(/400/);
    expect(await shop.deliver(shop.event())).toMatchObject({ status: 404, outcome: undefined });
  } finally {
    await shop.import('REST');
    await shop.publish();
  }
  await expectDone(shop.event());
});

test('a credential that was deleted', async () => {
  const request = shop.event();
  const all = await listAll<{ id: string; name: string }>(world.account, 'credentials');
  const { id } = all.find(({ name }) => name === world.credential) ?? expect.fail('no credential');
  await callN8n(world.account, 'DELETE', `credentials/${id}`);
  try {
    expectUnavailable(await shop.deliver(request));
  } finally {
    await ensurePostgresCredential(world.account, world.credential, n8nLogin(world.databaseUrl));
    await shop.replace(shop.workflow);
  }
  await expectDone(request);
});

test('a Postgres that accepts and never answers', async () => {
  const request = shop.event();
  const silent = await startSilentServer();
  await ensurePostgresCredential(world.account, world.credential, {
    ...n8nLogin(world.databaseUrl),
    port: silent.port,
  });
  try {
    expectUnavailable(await shop.deliver(request));
  } finally {
    await ensurePostgresCredential(world.account, world.credential, n8nLogin(world.databaseUrl));
    await silent.stop();
  }
  await expectDone(request);
});

test('a Postgres that is stopped, and comes back', async () => {
  await expectDone(shop.event());
  const request = shop.event();
  const { port } = postgres;
  await postgres.stop();
  try {
    expectUnavailable(await shop.deliver(request));
    expectUnavailable(await shop.deliver(request));
  } finally {
    postgres = await startPostgres(folder, port);
  }
  await expectDone(request);
});

describe('a lock that someone else holds', () => {
  async function whileHolding(statements: string[], work: () => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      for (const statement of statements) await client.query(statement);
      await work();
      await client.query('ROLLBACK');
    } finally {
      await client.end();
    }
  }

  test('on the event: the delivery that would take it over is told to come again', async () => {
    const request = shop.request({ event_id: 'locked' }, { headers: { 'content-type': 'application/json' } });
    await world.sql(`INSERT INTO broken VALUES ('shop:locked', 'first try')`);
    await shop.deliver(request);
    await waitFor('the failure', async () => (await shop.ledger('shop:locked'))?.status === 'failed');
    await world.sql('DELETE FROM broken');
    const lock = `SELECT FROM oncehook.webhook_events WHERE idempotency_key = 'shop:locked' FOR UPDATE`;
    await whileHolding([lock], async () => expectUnavailable(await shop.deliver(request)));
    await expectDone(request, 'reclaimed');
  });

  test('on the table: nothing is acknowledged', async () => {
    const request = shop.event();
    const lock = 'LOCK TABLE oncehook.webhook_events IN ACCESS EXCLUSIVE MODE';
    await whileHolding([lock], async () => expectUnavailable(await shop.deliver(request)));
    await expectDone(request);
  });
});
