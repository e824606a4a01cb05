import { shapeOf } from '../../providers/compile-batches.ts';
import { WorkflowBuilder } from '../../workflow/builder.ts';
import { idsFor } from '../../workflow/ids.ts';
import { layout } from '../../workflow/layout.ts';
import { type STICKY_COLOUR, stickyNote } from '../../workflow/nodes/sticky-note.ts';
import type { Workflow } from '../../workflow/types.ts';
import { marker } from '../marker.ts';
import { readStatements, type Statements } from '../statements.ts';
import { addFetchWork } from './fetch.ts';
import { addGate } from './gate.ts';
import { addItemsWork } from './items.ts';
import { NOTE } from './names.ts';
import { type Notes, notesFor } from './notes.ts';
import { places } from './places.ts';
import type { WorkflowSource } from './types.ts';
import { addFailure, addReplay, addWork } from './work.ts';

const COLOURS: Record<keyof Notes, keyof typeof STICKY_COLOUR> = {
  setUp: 'yellow',
  gate: 'grey',
  object: 'grey',
  business: 'green',
  decision: 'green',
  answer: 'grey',
  replay: 'blue',
  failure: 'red',
};

const WORK = { event: addWork, items: addItemsWork, fetch: addFetchWork };

/**
 * The workflow of one source. The same source gives the same workflow; its ids depend on the project and the
 * source's id alone. `statements` are the SQL of the Postgres nodes. Throws a Bug where they are not fit for n8n.
 */
export function sourceWorkflow(source: WorkflowSource, statements: Statements = readStatements()): Workflow {
  const builder = new WorkflowBuilder(idsFor(source.project, source.id));
  const notes = notesFor(source);
  const { positions, notes: boxes } = layout(places(source, notes));
  // The notes come first: n8n draws in this order.
  for (const role of Object.keys(COLOURS) as (keyof Notes)[]) {
    const content = notes[role];
    if (content === undefined) continue;
    const box = boxes.get(NOTE[role]) ?? { width: 0, height: 0 };
    builder.add(
      NOTE[role],
      `note/${role}`,
      stickyNote({ content, width: box.width, height: box.height, colour: COLOURS[role] }),
      marker(`note/${role}`),
    );
  }
  addGate(builder, source, statements);
  WORK[shapeOf(source.rules)](builder, source, statements);
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
