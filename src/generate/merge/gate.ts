import type { Workflow } from '../../workflow/types.ts';
import { keyOf } from '../marker.ts';
import { reach } from './graph.ts';
import type { Wire } from './wires.ts';

const RESPOND = 'n8n-nodes-base.respondToWebhook';
const NO_OP = 'n8n-nodes-base.noOp';

/** Which of our nodes and wires are the gate's. */
export interface Gate {
  /** Nodes that hold a place for the user's. */
  places: ReadonlySet<string>;
  /** True for a way from one node to another that decides what is taken and what the sender is told. */
  holds(from: string, to: string): boolean;
  /** True for a node whose items have not been answered yet. */
  unanswered(key: string): boolean;
}

/**
 * The gate of a generated workflow, whatever its nodes are: all that lies between a beginning and the user's place or
 * an answer. What can be reached by way of the user's place alone is not part of it.
 */
export function gateOf(workflow: Workflow, wires: readonly Wire[]): Gate {
  const keys = workflow.nodes.map(keyOf);
  const ofType = (type: string) => new Set(workflow.nodes.filter((node) => node.type === type).map(keyOf));
  const [places, answers] = [ofType(NO_OP), ofType(RESPOND)];
  const targets = new Set(wires.map(({ to }) => to));
  const forward = (key: string) => wires.filter(({ from }) => from === key).map(({ to }) => to);
  const backward = (key: string) => wires.filter(({ to }) => to === key).map(({ from }) => from);
  const above = reach(
    keys.filter((key) => !targets.has(key) && !places.has(key)),
    (key) => forward(key).filter((next) => !places.has(next)),
  );
  const guards = reach([...places, ...answers], backward);
  const before = reach([...answers].flatMap(backward), (key) => (answers.has(key) ? [] : backward(key)));
  return {
    places,
    holds: (from, to) => above.has(from) && above.has(to) && guards.has(to),
    unanswered: (key) => above.has(key) && before.has(key) && !answers.has(key),
  };
}
