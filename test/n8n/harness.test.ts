import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { ensurePostgresCredential } from '../../src/n8n/credentials.ts';
import { awaitLive, isLive } from '../../src/n8n/probe.ts';
import {
  findWorkflow,
  getWorkflow,
  importWorkflow,
  publishWorkflow,
  unpublishWorkflow,
  type WorkflowFile,
} from '../../src/n8n/workflows.ts';
import { deliver } from './harness/deliver.ts';
import { endedExecutions, outputOf } from './harness/executions.ts';
import { importByCommand } from './harness/import.ts';
import { loginOf } from './harness/postgres.ts';

const { account, place, postgresUrl } = inject('shared');
const CREDENTIAL = 'Harness Postgres';

/** Webhook → Postgres → Respond: what every generated workflow is made of. */
function smallWorkflow(path: string, credential: object): WorkflowFile {
  const node = (name: string, type: string, typeVersion: number, parameters: object, more: object = {}) => ({
    id: randomUUID(),
    name,
    type: `n8n-nodes-base.${type}`,
    typeVersion,
    position: [0, 0],
    parameters: { ...parameters },
    ...more,
  });
  const next = (name: string) => ({ main: [[{ node: name, type: 'main', index: 0 }]] });
  return {
    id: randomUUID().replaceAll('-', '').slice(0, 16),
    name: path,
    nodes: [
      node(
        'Webhook',
        'webhook',
        2.1,
        { httpMethod: 'POST', path, responseMode: 'responseNode', options: {} },
        { webhookId: randomUUID() },
      ),
      node(
        'Echo',
        'postgres',
        2.6,
        {
          operation: 'executeQuery',
          query: 'SELECT $1::text AS said',
          options: { queryReplacement: '={{ [ $json.body.say ?? null ] }}' },
        },
        { credentials: { postgres: credential } },
      ),
      node('Respond', 'respondToWebhook', 1.4, {
        respondWith: 'text',
        responseBody: '={{ $json.said }}',
        options: {},
      }),
    ],
    connections: { Webhook: next('Echo'), Echo: next('Respond') },
    settings: { executionOrder: 'v1' },
  };
}

const say = (path: string, words: string) =>
  deliver(`${account.url}/webhook/${path}`, {
    body: JSON.stringify({ say: words }),
    headers: { 'Content-Type': 'application/json' },
  });

beforeAll(async () => {
  await ensurePostgresCredential(account, CREDENTIAL, loginOf(postgresUrl));
  // A second one, older by its name's order: a workflow must not get it by chance.
  await ensurePostgresCredential(account, 'Another Postgres', { ...loginOf(postgresUrl), password: 'wrong' });
});

describe.each(['command', 'REST'] as const)('imported by %s', (way) => {
  const path = `harness-${way}`;
  const file = smallWorkflow(path, { id: null, name: CREDENTIAL });

  test('a workflow finds its credential by name, answers once it is published, and no longer after', async () => {
    if (way === 'command') await importByCommand(place, file);
    else await importWorkflow(account, file);
    const { id, nodes } = (await findWorkflow(account, file)) ?? expect.fail('not imported');
    expect(nodes[1]?.credentials).toMatchObject({
      postgres: { id: expect.any(String), name: CREDENTIAL },
    });
    expect(await isLive(account.url, path)).toBe(false);

    await publishWorkflow(account, id);
    await awaitLive(account.url, path);
    const words = `$1 $& $$ {{ 1+1 }} , ' " \\`;
    expect(await say(path, words)).toMatchObject({ status: 200, body: words, outcome: undefined });

    const [execution] = await endedExecutions(account, id, 1);
    expect(execution && outputOf(execution, 'Echo')).toEqual([[{ said: words }]]);

    await unpublishWorkflow(account, id);
    await awaitLive(account.url, path, false);
    expect((await say(path, 'gone')).status).toBe(404);
  });

  test('a second import updates the workflow and makes no other', async () => {
    const before = await findWorkflow(account, file);
    if (way === 'command') await importByCommand(place, { ...file, name: `${path} again` });
    else await importWorkflow(account, { ...file, name: `${path} again` });
    const after = await findWorkflow(account, file);
    expect(after).toMatchObject({ id: before?.id, name: `${path} again` });
  });

  test('publishing is refused while no credential has the name', async () => {
    const orphan = smallWorkflow(`${path}-orphan`, { id: null, name: 'No such credential' });
    if (way === 'command') await importByCommand(place, orphan);
    else await importWorkflow(account, orphan);
    const { id } = (await findWorkflow(account, orphan)) ?? expect.fail('not imported');
    await expect(publishWorkflow(account, id)).rejects.toThrow(/400/);
    expect(await getWorkflow(account, id)).toMatchObject({ active: false });
  });
});

test('what n8n refuses is told, without the key', async () => {
  const stranger = { url: account.url, apiKey: 'not-a-key' };
  await expect(getWorkflow(stranger, 'x')).rejects.toThrow(/401/);
  await expect(getWorkflow(stranger, 'x')).rejects.not.toThrow(/not-a-key/);
});
