import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Generated, generate } from '../../src/generate/generate.ts';
import type { Workflow } from '../../src/workflow/types.ts';
import { internal } from './harness/account.ts';
import { runCommand } from './harness/n8n.ts';
import type { TestSource } from './harness/source.ts';
import { createWorld, type World } from './harness/world.ts';

const SOURCES = (more = '') =>
  `  shop: { provider: custom, path: merge/shop, secrets: [FIRST_SECRET]${more} }\n`;

let folder = '';
let world: World;
let shop: TestSource;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oncehook-merge-'));
  world = await createWorld({ name: 'merge', sources: SOURCES(), way: 'command', business: false });
  shop = world.source('shop');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the generator makes of a later configuration and what n8n exported. */
async function regenerate(
  exported: unknown,
  more: string,
): Promise<{ generated: Generated; workflow: Workflow }> {
  const configFile = join(folder, 'oncehook.yaml');
  const file = join(folder, 'export.json');
  await writeFile(configFile, `project: merge\ncredential: ${world.credential}\nsources:\n${SOURCES(more)}`);
  await writeFile(file, typeof exported === 'string' ? exported : JSON.stringify(exported));
  const generated = await generate({ configFile, merge: [file] });
  const text = await readFile(join(folder, 'workflows/shop.json'), 'utf8');
  expect(await generate({ configFile, check: true })).toMatchObject({ upToDate: true });
  return { generated, workflow: JSON.parse(text) as Workflow };
}

/** A user at work in n8n's editor: a node of their own, another name, another place. */
async function edit(): Promise<string> {
  const { id } = await shop.stored();
  const { nodes, connections } = (await internal(world.account, 'GET', `workflows/${id}`)) as Workflow;
  const mine = {
    id: randomUUID(),
    name: 'Mine',
    type: 'n8n-nodes-base.postgres',
    typeVersion: 2.6,
    position: [2400, 300],
    parameters: {
      operation: 'executeQuery',
      query: 'SELECT work($1) AS worked',
      options: { queryReplacement: '={{ [ $json.key ] }}' },
    },
    credentials: { postgres: { id: null, name: 'Business merge' } },
  };
  const { 'Your business logic': _, Answer: __, ...wires } = connections;
  await internal(world.account, 'PATCH', `workflows/${id}`, {
    nodes: [
      ...nodes
        .filter(({ name }) => name !== 'Your business logic')
        .map((node) => {
          if (node.name === 'Answer') return { ...node, name: 'Everything else' };
          return node.name === 'Mark failed' ? { ...node, position: [7, 7] } : node;
        }),
      mine,
    ],
    connections: {
      ...wires,
      'New event?': {
        main: [
          [{ node: 'Acknowledge', type: 'main', index: 0 }],
          [{ node: 'Everything else', type: 'main', index: 0 }],
        ],
      },
      Acknowledge: { main: [[{ node: 'Mine', type: 'main', index: 0 }]] },
      Mine: { main: [[{ node: 'Mark success', type: 'main', index: 0 }]] },
    },
  });
  return id;
}

async function expectWorking(): Promise<void> {
  const event = shop.event();
  const answer = await shop.deliver(event);
  expect(answer).toMatchObject({ status: 200, outcome: 'new' });
  expect(await shop.deliver(event)).toMatchObject({ status: 200, outcome: 'duplicate' });
  const key = shop.keyOf(answer);
  await expect.poll(() => shop.ledger(key), { timeout: 60_000 }).toMatchObject({ status: 'success' });
  expect(await shop.effects(key)).toBe(1);
}

function expectMerged(workflow: Workflow, lease: number): void {
  const named = (name: string) => workflow.nodes.find((node) => node.name === name);
  expect(named('Mine')).toMatchObject({ position: [2400, 300] });
  expect(named('Everything else')).toBeDefined();
  expect(named('Mark failed')?.position).toEqual([7, 7]);
  expect(named('Your business logic')).toBeUndefined();
  expect(workflow.settings['executionTimeout']).toBe(lease * 0.95);
  expect(workflow.id).toBe(shop.workflow.id);
}

test('what the user did in n8n survives an upgrade, exported by the command line', async () => {
  const id = await edit();
  const file = join(folder, 'by-command.json');
  await runCommand(shop.place, 'export:workflow', `--id=${id}`, `--output=${file}`);
  const { generated, workflow } = await regenerate(await readFile(file, 'utf8'), ', lease: 1h');
  expect(generated.files[0]?.conflicts).toEqual([]);
  expectMerged(workflow, 3600);
  // Else the version that is published could still answer the delivery below.
  await shop.unpublish();
  await shop.import('command', workflow);
  await shop.publish();
  await expectWorking();
});

test('and again, exported and imported by the API', async () => {
  const { id } = await shop.stored();
  const exported = await internal(world.account, 'GET', `workflows/${id}`);
  const { generated, workflow } = await regenerate({ data: exported }, ', lease: 2h');
  expect(generated.files[0]?.conflicts).toEqual([]);
  expectMerged(workflow, 7200);
  await shop.unpublish();
  await shop.import('REST', workflow);
  await shop.publish();
  await expectWorking();
});
