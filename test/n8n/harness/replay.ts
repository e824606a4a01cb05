import { randomUUID } from 'node:crypto';
import { importWorkflow, publishWorkflow } from '../../../src/n8n/workflows.ts';
import type { Account } from './account.ts';
import { type Answer, deliver } from './deliver.ts';
import { waitFor } from './wait.ts';

/** A workflow that hands an event's id to the Replay trigger of another one, and answers when that has run. */
export interface Caller {
  replay(eventId: string): Promise<Answer>;
}

const node = (name: string, type: string, typeVersion: number, parameters: object, column: number) => ({
  id: randomUUID(),
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion,
  parameters,
  position: [column * 240, 0],
});

/** Makes and publishes it, as a user would build it by hand. */
export async function createCaller(account: Account, workflowId: string): Promise<Caller> {
  const path = `replay-${randomUUID()}`;
  const webhook = node('Webhook', 'webhook', 2.1, { httpMethod: 'GET', path, responseMode: 'lastNode' }, 0);
  const assignment = {
    id: randomUUID(),
    name: 'event_id',
    value: '={{ $json.query.event_id }}',
    type: 'string',
  };
  const { id } = await importWorkflow(account, {
    name: `Caller of ${workflowId}`,
    nodes: [
      { ...webhook, webhookId: randomUUID() },
      node('Id', 'set', 3.4, { assignments: { assignments: [assignment] }, options: {} }, 1),
      node(
        'Call',
        'executeWorkflow',
        1.1,
        { source: 'database', workflowId: { __rl: true, mode: 'id', value: workflowId }, options: {} },
        2,
      ),
    ],
    connections: {
      Webhook: { main: [[{ node: 'Id', type: 'main', index: 0 }]] },
      Id: { main: [[{ node: 'Call', type: 'main', index: 0 }]] },
    },
    settings: { executionOrder: 'v1' },
  });
  await publishWorkflow(account, id);
  return {
    replay: (eventId) =>
      waitFor('the calling workflow to listen', async () => {
        const answer = await deliver(`${account.url}/webhook/${path}?event_id=${eventId}`, { method: 'GET' });
        return answer.status !== 404 && answer;
      }),
  };
}
