import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { setFields } from '../../workflow/nodes/set.ts';
import { WEBHOOK_GET } from '../../workflow/nodes/webhook.ts';
import { marker } from '../marker.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

/** Whether the sender checks the address by GET. */
export function takesGet({ providerFile }: Pick<WorkflowSource, 'providerFile'>): boolean {
  return providerFile.handshakes.some(({ method }) => method === 'GET');
}

/** The way of a GET request to `next` in the gate: without a body, and with its method behind the mode, so that it is never an event. */
export function addGetRequests(builder: WorkflowBuilder, next: string): void {
  const { ids } = builder;
  builder.add(
    NODE.getRequest,
    'get-request',
    {
      ...setFields({
        fields: [
          { id: ids.of('get-request/data'), name: 'data', type: 'string', value: '' },
          {
            id: ids.of('get-request/mode'),
            name: 'executionMode',
            type: 'string',
            value: '={{ $json.executionMode }} GET',
          },
        ],
        keep: ['headers', 'query'],
      }),
      onError: 'continueErrorOutput',
    },
    marker('get-request', 'Tells the ledger that the sender only checks the address.'),
  );
  builder.connect(NODE.webhook, NODE.getRequest, WEBHOOK_GET);
  builder.connect(NODE.getRequest, next);
  builder.connectError(NODE.getRequest, NODE.unavailable);
}
