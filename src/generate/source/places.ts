import { type Shape, shapeOf } from '../../providers/compile-batches.ts';
import type { Group, Row } from '../../workflow/layout.ts';
import { takesGet } from './get-requests.ts';
import { NODE, NOTE } from './names.ts';
import type { Notes } from './notes.ts';
import type { WorkflowSource } from './types.ts';

type Cells = Group['cells'];

/** Where the nodes and notes of a source's workflow stand. */
export function places(source: WorkflowSource, text: Notes): Row[][] {
  const { ack, rules } = source;
  const shape = shapeOf(rules);
  // What is fetched has its key further on.
  const gate = line([NODE.webhook, NODE.rawBody, NODE.key, NODE.claim, NODE.isNew]).filter(
    ({ name }) => shape !== 'fetch' || name !== NODE.key,
  );
  return [
    [[{ note: NOTE.setUp, text: text.setUp, columns: 2, cells: [] }]],
    [
      [
        {
          note: NOTE.gate,
          text: text.gate,
          columns: 5,
          cells: [
            ...gate,
            ...(takesGet(source) ? [{ name: NODE.getRequest, column: 1, row: 1 }] : []),
            { name: NODE.unavailable, column: 4, row: 1 },
          ],
        },
      ],
      [
        {
          note: NOTE.failure,
          text: text.failure,
          columns: 2,
          cells: line([NODE.onFailure, NODE.markFailed]),
        },
        { note: NOTE.replay, text: text.replay, columns: 2, cells: line([NODE.replay, NODE.claimReplay]) },
      ],
    ],
    [
      [...(text.object === undefined ? [] : [objectGroup(ack, text.object)]), workGroup(shape, ack, text)],
      ...(text.decision === undefined ? [] : [[decisionGroup(text.decision)]]),
      [
        {
          note: NOTE.answer,
          text: text.answer,
          columns: 3,
          cells: [{ name: NODE.answer, column: text.decision === undefined ? 0 : 1, row: 0 }],
        },
      ],
    ],
  ];
}

function line(names: string[]): Cells {
  return names.map((name, column) => ({ name, column, row: 0 }));
}

function workGroup(shape: Shape, ack: WorkflowSource['ack'], text: Notes): Group {
  const cells = WORK[shape](ack);
  const columns = Math.max(3, ...cells.map(({ column }) => column + 1));
  return { note: NOTE.business, text: text.business, columns, cells };
}

const WORK: Record<Shape, (ack: WorkflowSource['ack']) => Cells> = {
  event: (ack) =>
    line(
      ack === 'after-claim'
        ? [NODE.acknowledge, NODE.business, NODE.markSuccess]
        : [NODE.business, NODE.markSuccess, NODE.acknowledge],
    ),
  items: (ack) => {
    const round = [NODE.onlyNew, NODE.each, NODE.business, NODE.markSuccess, NODE.stillOurs];
    return ack === 'after-claim'
      ? line([NODE.acknowledge, ...round])
      : // Reached from the loop when all is done.
        [...line(round), { name: NODE.acknowledge, column: 2, row: 1 }];
  },
  fetch: (ack) =>
    line([NODE.business, NODE.markSuccess, ...(ack === 'after-success' ? [NODE.acknowledge] : [])]),
};

/** Above "Answer", which refuses where the decision came to nothing: n8n goes from top to bottom. */
function decisionGroup(text: string): Group {
  const cells = line([NODE.isQuestion, NODE.decision, NODE.answerQuestion]);
  return { note: NOTE.decision, text, columns: cells.length, cells };
}

function objectGroup(ack: WorkflowSource['ack'], text: string): Group {
  const cells = line([
    ...(ack === 'after-claim' ? [NODE.acknowledge] : []),
    ...[NODE.toFetch, NODE.fetch, NODE.objectBytes, NODE.key, NODE.claimObject, NODE.isNewObject],
  ]);
  return { note: NOTE.object, text, columns: cells.length, cells };
}
