import { randomUUID } from 'node:crypto';
import type { WorkflowFile } from '../../src/n8n/workflows.ts';

type BenchNode = WorkflowFile['nodes'][number] & { typeVersion: number; position: number[] };

const respond: BenchNode = {
  id: randomUUID(),
  name: 'Respond',
  type: 'n8n-nodes-base.respondToWebhook',
  typeVersion: 1.4,
  position: [900, 0],
  parameters: { respondWith: 'json', responseBody: '{"ok":true}', options: { responseCode: 200 } },
};

/** Nothing but an answer: what n8n itself costs. */
export function bareWorkflow(path: string): WorkflowFile {
  return workflow('Bench: bare', [webhook(path), respond], { Webhook: [['Respond']] });
}

/** What people build by hand against duplicates: look, decide, insert, answer. It loses every race. */
export function handMadeWorkflow(path: string, credential: string): WorkflowFile {
  return workflow(
    'Bench: by hand',
    [
      webhook(path),
      postgres(
        'Look',
        'SELECT count(*)::int AS seen FROM seen WHERE id = $1',
        `={{ [ $json.body.id ] }}`,
        credential,
      ),
      {
        id: randomUUID(),
        name: 'Seen?',
        type: 'n8n-nodes-base.if',
        typeVersion: 2.2,
        position: [450, 0],
        parameters: {
          conditions: {
            options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
            combinator: 'and',
            conditions: [
              {
                id: randomUUID(),
                leftValue: '={{ $json.seen }}',
                rightValue: 0,
                operator: { type: 'number', operation: 'equals' },
              },
            ],
          },
          options: {},
        },
      },
      postgres(
        'Remember',
        'INSERT INTO seen (id, body) VALUES ($1, $2) RETURNING id',
        `={{ [ $('Webhook').item.json.body.id, JSON.stringify($('Webhook').item.json.body) ] }}`,
        credential,
      ),
      respond,
    ],
    { Webhook: [['Look']], Look: [['Seen?']], 'Seen?': [['Remember'], ['Respond']], Remember: [['Respond']] },
  );
}

function webhook(path: string) {
  return {
    id: randomUUID(),
    name: 'Webhook',
    type: 'n8n-nodes-base.webhook',
    typeVersion: 2.1,
    webhookId: randomUUID(),
    position: [0, 0],
    parameters: { httpMethod: 'POST', path, responseMode: 'responseNode', options: {} },
  };
}

function postgres(name: string, query: string, queryReplacement: string, credential: string) {
  return {
    id: randomUUID(),
    name,
    type: 'n8n-nodes-base.postgres',
    typeVersion: 2.6,
    position: [300, 0],
    parameters: { resource: 'database', operation: 'executeQuery', query, options: { queryReplacement } },
    credentials: { postgres: { id: null, name: credential } },
  };
}

/** `wires` names, for each node and output, the nodes that follow. */
function workflow(name: string, nodes: BenchNode[], wires: Record<string, string[][]>): WorkflowFile {
  const connections = Object.fromEntries(
    Object.entries(wires).map(([from, outputs]) => [
      from,
      { main: outputs.map((targets) => targets.map((node) => ({ node, type: 'main', index: 0 }))) },
    ]),
  );
  return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}
