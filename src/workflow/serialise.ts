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

/** The text of a workflow file: keys in one order whatever made the workflow, two spaces, a newline at the end. */
export function serialise(workflow: Workflow): string {
  const ordered = {
    ...pick(workflow, WORKFLOW_KEYS),
    nodes: workflow.nodes.map((node) => pick(node, NODE_KEYS)),
  };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** JSON with every object's keys in the order of the alphabet: equal values give equal texts. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_key, inner: Json) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function pick<T extends object>(value: T, keys: (keyof T)[]): Partial<T> {
  const result: Partial<T> = {};
  for (const key of keys) {
    if (value[key] !== undefined) {
      result[key] = value[key];
    }
  }
  return result;
}
