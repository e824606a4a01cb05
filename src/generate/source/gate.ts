import { type Shape, shapeOf } from '../../providers/compile-batches.ts';
import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { IF_FALSE, ifTrue } from '../../workflow/nodes/if.ts';
import { postgres } from '../../workflow/nodes/postgres.ts';
import { setText } from '../../workflow/nodes/set.ts';
import { WEBHOOK_POST, webhook } from '../../workflow/nodes/webhook.ts';
import type { OnError } from '../../workflow/types.ts';
import { marker } from '../marker.ts';
import type { StatementName, Statements } from '../statements.ts';
import { answerByOutcome, requestField, unavailable } from './answers.ts';
import { addDecision } from './decision.ts';
import { addGetRequests, takesGet } from './get-requests.ts';
import { NODE } from './names.ts';
import { addRawBody } from './raw-body.ts';
import type { WorkflowSource } from './types.ts';

/** The origin of this n8n: execution ids repeat from one n8n to the next. */
export const INSTANCE = `$execution.resumeUrl.split('/', 3).join('/')`;

/** What the claim is of, by what a request brings; `fresh` is the question of the node behind it. */
const CLAIMS: Record<Shape, { statement: StatementName; purpose: string; fresh: string }> = {
  event: {
    statement: 'claim',
    purpose: 'Asks the ledger whether this event is new, and takes it if so.',
    fresh: `$json.outcome === 'new' || $json.outcome === 'reclaimed'`,
  },
  items: {
    statement: 'claim-items',
    purpose: 'Asks the ledger which events of this request are new, and takes those.',
    fresh: `['new', 'reclaimed'].includes(${requestField('outcome')})`,
  },
  fetch: {
    statement: 'claim-delivery',
    purpose: 'Keeps the delivery in the ledger until its object is fetched.',
    fresh: `$json.outcome === 'new' || $json.outcome === 'reclaimed'`,
  },
};

/** From the request to the question whether its event is new, with an answer for every case but that one. */
export function addGate(builder: WorkflowBuilder, source: WorkflowSource, statements: Statements): void {
  const { ids } = builder;
  const shape = shapeOf(source.rules);
  builder.add(
    NODE.webhook,
    'webhook',
    webhook({
      path: source.path,
      webhookId: ids.of('webhook-url'),
      addresses: source.addresses,
      get: takesGet(source),
    }),
    marker('webhook', 'Takes the request and keeps its exact bytes.'),
  );
  addRawBody(builder, source);
  const { statement, purpose, fresh } = CLAIMS[shape];
  // What is fetched has a key, and not the delivery.
  const keyed = shape !== 'fetch';
  // Without the parsed body: the ledger reads the exact one, and n8n would store it once more.
  if (keyed) addKey(builder, source, ['data', 'headers', 'query', 'executionMode'], 'continueErrorOutput');
  builder.add(
    NODE.claim,
    'claim',
    {
      ...postgres({
        query: statements[statement],
        parameters: [
          keyed ? '$json.source ?? null' : `'${source.id}'`,
          '$json.data ?? null',
          'JSON.stringify($json.headers ?? {})',
          'JSON.stringify($json.query ?? {})',
          keyed ? '$json.recipe ?? null' : 'null',
          '$json.executionMode ?? null',
          '$workflow.id',
          '$execution.id',
          INSTANCE,
        ],
        credential: source.credential,
      }),
      onError: 'continueErrorOutput',
      // A statement that was edited and gives no row must not end in n8n's own empty 200.
      alwaysOutputData: true,
    },
    marker('claim', purpose),
  );
  builder.add(
    NODE.isNew,
    'is-new',
    ifTrue(`={{ ${fresh} }}`, ids.of('is-new/condition')),
    marker('is-new', 'Lets nothing pass but an event that this run has taken.'),
  );
  builder.add(
    NODE.unavailable,
    'unavailable',
    unavailable(),
    marker('unavailable', 'Asks the sender to try again: the ledger could not be reached.'),
  );
  builder.add(
    NODE.answer,
    'answer',
    answerByOutcome(source),
    marker('answer', 'Answers duplicates, refused and unreadable requests.'),
  );
  builder.connect(NODE.webhook, NODE.rawBody, WEBHOOK_POST);
  if (keyed) {
    builder.connect(NODE.rawBody, NODE.key);
    builder.connect(NODE.key, NODE.claim);
    builder.connectError(NODE.key, NODE.unavailable);
  } else {
    builder.connect(NODE.rawBody, NODE.claim);
  }
  builder.connect(NODE.claim, NODE.isNew);
  builder.connectError(NODE.claim, NODE.unavailable);
  if (takesGet(source)) addGetRequests(builder, keyed ? NODE.key : NODE.claim);
  if (source.decide) addDecision(builder, source);
  else builder.connect(NODE.isNew, NODE.answer, IF_FALSE);
}

/** The recipe's node; `keep` names the fields that pass on. */
export function addKey(
  builder: WorkflowBuilder,
  source: WorkflowSource,
  keep: string[],
  onError: OnError = 'stopWorkflow',
): void {
  const { ids } = builder;
  builder.add(
    NODE.key,
    'key',
    {
      ...setText({
        fields: [
          { id: ids.of('key/source'), name: 'source', value: source.id },
          { id: ids.of('key/recipe'), name: 'recipe', value: plainText(source.key) },
        ],
        keep,
      }),
      onError,
    },
    marker('key', 'Says how an event is named: the recipe of its idempotency key, as plain text.'),
  );
}

/** A recipe is never an expression: a line break in front, which means nothing to it, keeps n8n from seeing one. */
function plainText(recipe: string): string {
  return recipe.startsWith('=') ? `\n${recipe}` : recipe;
}
