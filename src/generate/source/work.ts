import { shapeOf } from '../../providers/compile-batches.ts';
import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { IF_TRUE } from '../../workflow/nodes/if.ts';
import { noOp } from '../../workflow/nodes/no-op.ts';
import { postgres } from '../../workflow/nodes/postgres.ts';
import { errorTrigger, executeWorkflowTrigger } from '../../workflow/nodes/triggers.ts';
import type { NodeSpec } from '../../workflow/types.ts';
import { marker } from '../marker.ts';
import type { Statements } from '../statements.ts';
import { acknowledge } from './answers.ts';
import { INSTANCE } from './gate.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

/** n8n's most: five tries, five seconds apart. */
const RETRIED = { retryOnFail: true, maxTries: 5, waitBetweenTries: 5000 } satisfies Partial<NodeSpec>;

/** What happens to a new event: the answer, the business nodes and the completion, one after the other. */
export function addWork(builder: WorkflowBuilder, source: WorkflowSource, statements: Statements): void {
  builder.add(
    NODE.acknowledge,
    'acknowledge',
    acknowledge(source),
    marker('acknowledge', 'Tells the sender that its event has arrived.'),
  );
  addBusiness(builder);
  addMarkSuccess(builder, source, statements, `$('${NODE.isNew}').first(0).json`);
  const way =
    source.ack === 'after-claim'
      ? [NODE.acknowledge, NODE.business, NODE.markSuccess]
      : [NODE.business, NODE.markSuccess, NODE.acknowledge];
  way.reduce<string>((previous, next) => {
    builder.connect(previous, next, previous === NODE.isNew ? IF_TRUE : 0);
    return next;
  }, NODE.isNew);
}

export function addBusiness(builder: WorkflowBuilder): void {
  builder.add(
    NODE.business,
    'business',
    noOp(),
    marker('business', 'Does nothing: put your own nodes in its place.'),
  );
}

/** `claimed` is an expression for the row of the claim. */
export function addMarkSuccess(
  builder: WorkflowBuilder,
  source: WorkflowSource,
  statements: Statements,
  claimed: string,
): void {
  builder.add(
    NODE.markSuccess,
    'mark-success',
    {
      ...postgres({
        query: statements['mark-success'],
        parameters: ['key', 'claim'].map((field) => `${claimed}.${field}`),
        credential: source.credential,
      }),
      ...RETRIED,
      executeOnce: true,
    },
    marker('mark-success', 'Tells the ledger that the work is done, if this run still holds the event.'),
  );
}

/** The second way in: another workflow hands over the id of an event that is due once more. */
export function addReplay(builder: WorkflowBuilder, source: WorkflowSource, statements: Statements): void {
  builder.add(
    NODE.replay,
    'replay',
    executeWorkflowTrigger(),
    marker('replay', 'Starts here when another workflow hands over an event_id.'),
  );
  builder.add(
    NODE.claimReplay,
    'claim-replay',
    {
      ...postgres({
        query: statements[shapeOf(source.rules) === 'fetch' ? 'claim-replay-delivery' : 'claim-replay'],
        parameters: ['$json.event_id ?? null', `'${source.id}'`, '$workflow.id', '$execution.id', INSTANCE],
        credential: source.credential,
      }),
      // One run holds one event: "Mark success" looks for one claim.
      executeOnce: true,
      alwaysOutputData: true,
    },
    marker('claim-replay', 'Takes that event anew, unless it is done or another run holds it.'),
  );
  builder.connect(NODE.replay, NODE.claimReplay);
  builder.connect(NODE.claimReplay, NODE.isNew);
}

/** What happens when a published run of this workflow fails. */
export function addFailure(builder: WorkflowBuilder, source: WorkflowSource, statements: Statements): void {
  builder.add(
    NODE.onFailure,
    'on-failure',
    errorTrigger(),
    marker('on-failure', 'Starts here when a published run of this workflow fails.'),
  );
  builder.add(
    NODE.markFailed,
    'mark-failed',
    {
      ...postgres({
        query: statements['mark-failed'],
        parameters: [
          `'${source.id}'`,
          INSTANCE,
          '$json.execution?.id ?? null',
          // Postgres takes no NUL in a text, and a message may quote what a sender wrote.
          `String($json.execution?.error?.message ?? '').split('\\u0000').join('')`,
          // The ledger knows one name alone: where the user gave that node another, a merge writes it behind `===`.
          `($json.execution?.lastNodeExecuted === '${NODE.markSuccess}' ? '${NODE.markSuccess}' : $json.execution?.lastNodeExecuted) ?? null`,
          '$json.execution?.error?.name ?? null',
        ],
        credential: source.credential,
      }),
      ...RETRIED,
    },
    marker(
      'mark-failed',
      'Frees the event of the failed run, so that the next delivery or replay may take it.',
    ),
  );
  builder.connect(NODE.onFailure, NODE.markFailed);
}
