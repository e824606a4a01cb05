import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { IF_FALSE, IF_TRUE, ifTrue } from '../../workflow/nodes/if.ts';
import { LOOP_DONE, LOOP_NEXT, loopOverItems } from '../../workflow/nodes/loop.ts';
import { respond } from '../../workflow/nodes/respond.ts';
import type { NodeSpec } from '../../workflow/types.ts';
import { marker } from '../marker.ts';
import type { Statements } from '../statements.ts';
import { OUTCOME, requestField } from './answers.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';
import { addBusiness, addMarkSuccess } from './work.ts';

/**
 * What happens to a request that holds several events: one answer, then the business nodes and the completion for
 * each new event, one after the other. A run that lost an event to another run ends there.
 */
export function addItemsWork(builder: WorkflowBuilder, source: WorkflowSource, statements: Statements): void {
  const { ids } = builder;
  builder.add(
    NODE.acknowledge,
    'acknowledge',
    acknowledgeRequest(source),
    marker('acknowledge', 'Tells the sender, once for all of them, that its events have arrived.'),
  );
  builder.add(
    NODE.onlyNew,
    'only-new',
    ifTrue(`={{ $json.outcome === 'new' || $json.outcome === 'reclaimed' }}`, ids.of('only-new/condition')),
    marker('only-new', 'Leaves out the events of the request that this run has not taken.'),
  );
  builder.add(
    NODE.each,
    'each',
    loopOverItems(),
    marker('each', 'Hands on one event at a time, in the order of the request.'),
  );
  addBusiness(builder);
  addMarkSuccess(builder, source, statements, `$('${NODE.each}').first(${LOOP_NEXT}).json`);
  builder.add(
    NODE.stillOurs,
    'still-ours',
    ifTrue(`={{ $json.status === 'success' }}`, ids.of('still-ours/condition')),
    marker('still-ours', 'Ends the run where another one has taken over its events.'),
  );
  const way: string[] = [NODE.onlyNew, NODE.each];
  if (source.ack === 'after-claim') way.unshift(NODE.acknowledge);
  way.reduce<string>((previous, next) => {
    builder.connect(previous, next, previous === NODE.isNew ? IF_TRUE : 0);
    return next;
  }, NODE.isNew);
  builder.connect(NODE.each, NODE.business, LOOP_NEXT);
  builder.connect(NODE.business, NODE.markSuccess);
  builder.connect(NODE.markSuccess, NODE.stillOurs);
  builder.connect(NODE.stillOurs, NODE.each, IF_TRUE);
  if (source.ack === 'after-success') {
    builder.connect(NODE.each, NODE.acknowledge, LOOP_DONE);
    builder.connect(NODE.stillOurs, NODE.unavailable, IF_FALSE);
  }
}

/** The answer for the whole request, as every row of the claim has it. */
function acknowledgeRequest({ ack }: WorkflowSource): NodeSpec {
  const row = ack === 'after-claim' ? '$json' : `$('${NODE.isNew}').first(0).json`;
  const field = (name: string) => `={{ ${requestField(name, row)} }}`;
  return respond({
    code: field('code'),
    headers: [
      { name: 'Content-Type', value: field('content_type') },
      { name: OUTCOME, value: field('outcome') },
      // Means something beside a 503 alone: with `after-success`, where another run holds one of the events.
      ...(ack === 'after-success' ? [{ name: 'Retry-After', value: '10' }] : []),
    ],
    body: field('answer'),
  });
}
