import { WorkflowBuilder } from '../../workflow/builder.ts';
import { idsFor } from '../../workflow/ids.ts';
import { layout, type Row } from '../../workflow/layout.ts';
import { type STICKY_COLOUR, stickyNote } from '../../workflow/nodes/sticky-note.ts';
import type { Workflow } from '../../workflow/types.ts';
import { readStatements, type Statements } from '../statements.ts';
import { addGate } from './gate.ts';
import { NODE, NOTE } from './names.ts';
import { type Notes, notesFor } from './notes.ts';
import type { WorkflowSource } from './types.ts';
import { addFailure, addReplay, addWork } from './work.ts';

const COLOURS: Record<keyof Notes, keyof typeof STICKY_COLOUR> = {
  setUp: 'yellow',
  gate: 'grey',
  business: 'green',
  answer: 'grey',
  replay: 'blue',
  failure: 'red',
};

/**
 * The workflow of one source. The same source gives the same workflow; its ids depend on the project and the
 * source's id alone. `statements` are the SQL of the Postgres nodes. Throws a Bug where they are not fit for n8n.
 */
export function sourceWorkflow(source: WorkflowSource, statements: Statements = readStatements()): Workflow {
  const builder = new WorkflowBuilder(idsFor(source.project, source.id));
  const notes = notesFor(source);
  const { positions, notes: boxes } = layout(stacks(source, notes));
  // The notes come first: n8n draws in this order.
  for (const role of Object.keys(COLOURS) as (keyof Notes)[]) {
    const box = boxes.get(NOTE[role]) ?? { width: 0, height: 0 };
    builder.add(
      NOTE[role],
      `note/${role}`,
      stickyNote({ content: notes[role], width: box.width, height: box.height, colour: COLOURS[role] }),
    );
  }
  addGate(builder, source, statements);
  addWork(builder, source, statements);
  addReplay(builder, source, statements);
  addFailure(builder, source, statements);
  return {
    id: builder.ids.workflow,
    name: `${source.name} (Oncehook)`,
    active: false,
    nodes: builder.nodes(positions),
    connections: builder.connections,
    settings: {
      executionOrder: 'v1',
      executionTimeout: executionTimeout(source.leaseSeconds),
      callerPolicy: 'workflowsFromSameOwner',
      saveDataErrorExecution: 'all',
    },
    meta: {},
  };
}

/** Whole seconds after which n8n ends a run: a twentieth of the lease, and one second at least, before the lease ends. */
export function executionTimeout(leaseSeconds: number): number {
  return Math.max(1, Math.floor(leaseSeconds - Math.max(1, leaseSeconds / 20)));
}

function stacks({ ack }: WorkflowSource, text: Notes): Row[][] {
  const line = (names: string[]) => names.map((name, column) => ({ name, column, row: 0 }));
  const gate = [NODE.webhook, NODE.rawBody, NODE.key, NODE.claim, NODE.isNew];
  const way =
    ack === 'after-claim'
      ? [NODE.acknowledge, NODE.business, NODE.markSuccess]
      : [NODE.business, NODE.markSuccess, NODE.acknowledge];
  return [
    [[{ note: NOTE.setUp, text: text.setUp, columns: 2, cells: [] }]],
    [
      [
        {
          note: NOTE.gate,
          text: text.gate,
          columns: 5,
          cells: [...line(gate), { name: NODE.unavailable, column: 4, row: 1 }],
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
      [{ note: NOTE.business, text: text.business, columns: 3, cells: line(way) }],
      [{ note: NOTE.answer, text: text.answer, columns: 3, cells: line([NODE.answer]) }],
    ],
  ];
}
