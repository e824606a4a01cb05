import { Bug } from '../../errors.ts';
import { fetchParts } from '../../providers/compile-batches.ts';
import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { extractBase64 } from '../../workflow/nodes/extract-from-file.ts';
import { getBytes } from '../../workflow/nodes/http-request.ts';
import { IF_FALSE, IF_TRUE, ifTrue } from '../../workflow/nodes/if.ts';
import { postgres } from '../../workflow/nodes/postgres.ts';
import { marker } from '../marker.ts';
import type { Statements } from '../statements.ts';
import { acknowledge } from './answers.ts';
import { addKey, INSTANCE } from './gate.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';
import { addBusiness, addMarkSuccess } from './work.ts';

/** The row of the delivery, or of a replay, seen from behind the fetch. */
const DELIVERY = `$('${NODE.toFetch}').first(0).json`;

/**
 * What happens to a delivery that says only that an object changed: the object is fetched, and its event claimed.
 * A replay of an event goes past the fetch. Where the fetch fails, the run fails, and the delivery is due again.
 */
export function addFetchWork(builder: WorkflowBuilder, source: WorkflowSource, statements: Statements): void {
  const { ids } = builder;
  builder.add(
    NODE.acknowledge,
    'acknowledge',
    acknowledge(source, NODE.isNewObject),
    marker('acknowledge', 'Tells the sender that its delivery has arrived.'),
  );
  builder.add(
    NODE.toFetch,
    'to-fetch',
    ifTrue('={{ Array.isArray($json.fetch_by) }}', ids.of('to-fetch/condition')),
    marker('to-fetch', 'Lets an event that is replayed pass by the fetch.'),
  );
  builder.add(
    NODE.fetch,
    'fetch',
    {
      ...getBytes({ url: objectUrl(source), ...fetchCredential(source) }),
      retryOnFail: true,
      maxTries: 3,
      waitBetweenTries: 2000,
    },
    marker('fetch', 'Reads the object that the delivery tells of, with your credential.'),
  );
  builder.add(
    NODE.objectBytes,
    'object-bytes',
    { ...extractBase64(), onError: 'stopWorkflow' },
    marker('object-bytes', 'Turns its exact bytes into text that the next nodes can carry.'),
  );
  addKey(builder, source, ['data']);
  builder.add(
    NODE.claimObject,
    'claim-object',
    {
      ...postgres({
        query: statements['claim-object'],
        parameters: [
          '$json.source ?? null',
          `${DELIVERY}.key ?? null`,
          `${DELIVERY}.claim ?? null`,
          '$json.data ?? null',
          '$json.recipe ?? null',
          '$workflow.id',
          '$execution.id',
          INSTANCE,
        ],
        credential: source.credential,
      }),
      alwaysOutputData: true,
    },
    marker('claim-object', 'Asks the ledger whether this state of the object is new, and takes it if so.'),
  );
  builder.add(
    NODE.isNewObject,
    'is-new-object',
    ifTrue(
      `={{ $json.outcome === 'new' || $json.outcome === 'reclaimed' }}`,
      ids.of('is-new-object/condition'),
    ),
    marker('is-new-object', 'Lets nothing pass but an event that this run has taken.'),
  );
  addBusiness(builder);
  addMarkSuccess(builder, source, statements, `$('${NODE.isNewObject}').first(0).json`);
  const after = source.ack === 'after-success';
  const way = [NODE.toFetch, NODE.fetch, NODE.objectBytes, NODE.key, NODE.claimObject, NODE.isNewObject];
  [
    ...(after ? [] : [NODE.acknowledge]),
    ...way,
    NODE.business,
    NODE.markSuccess,
    ...(after ? [NODE.acknowledge] : []),
  ].reduce<string>((previous, next) => {
    builder.connect(previous, next, IF_TRUE);
    return next;
  }, NODE.isNew);
  builder.connect(NODE.toFetch, NODE.isNewObject, IF_FALSE);
  // The sender is still waiting there.
  if (after) builder.connect(NODE.isNewObject, NODE.answer, IF_FALSE);
}

/** The name and the kind of the credential for the provider's API; every source has its own. */
export function fetchCredential({ id, providerFile }: WorkflowSource): {
  credential: string;
  credentialKind: 'httpHeaderAuth' | 'httpBasicAuth';
} {
  const { name, fetch } = providerFile;
  if (!fetch) throw new Bug(`The source ${id} has nothing to fetch.`);
  return { credential: `${name} API for ${id}`, credentialKind: fetch.credential };
}

/** The host and all else that is literal stand in the node: what the ledger hands over are single checked values. */
function objectUrl({ id, providerFile, settings }: WorkflowSource): string {
  if (!providerFile.fetch) throw new Bug(`The source ${id} has nothing to fetch.`);
  const { parts } = fetchParts(providerFile.fetch.url, settings);
  return `=${parts
    .map((part) =>
      typeof part === 'string' ? part : `{{ encodeURIComponent($json.fetch_by[${part.value}]) }}`,
    )
    .join('')}`;
}
