import type { Json, Workflow, WorkflowNode } from './types.ts';

const WORKFLOW_KEYS: (keyof Workflow)[] = [
  'id',
  'name',
  'active',
  'nodes',
  'connections',
  'settings',
  'meta',
];
const NODE_KEYS: (keyof WorkflowNode)[] = [
  'id',
  'name',
  'type',
  'typeVersion',
  'position',
  'webhookId',
  'parameters',
  'credentials',
  'onError',
  'retryOnFail',
  'maxTries',
  'waitBetweenTries',
  'executeOnce',
  'alwaysOutputData',
  'notes',
];

/**
 * The text of a workflow file: known keys in one order whatever made the workflow, others behind them by the alphabet,
 * two spaces, a newline at the end.
 */
export function serialise(workflow: Workflow): string {
  const ordered = {
    ...sorted(workflow, WORKFLOW_KEYS),
    nodes: workflow.nodes.map((node) => sorted(node, NODE_KEYS)),
  };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** JSON with every object's keys in the order of the alphabet: equal values give equal texts. */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return JSON.stringify(value, (_key, inner: Json) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function sorted<T extends object>(value: T, first: (keyof T)[]): Partial<T> {
  const others = (Object.keys(value) as (keyof T)[]).filter((key) => !first.includes(key)).sort();
  const result: Partial<T> = {};
  for (const key of [...first, ...others]) {
    if (value[key] !== undefined) {
      result[key] = value[key];
    }
  }
  return result;
}
