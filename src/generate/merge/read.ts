import type { Json } from '../../workflow/types.ts';
import type { LooseNode, LooseWorkflow } from './types.ts';

/** What a workflow file may hold beside its nodes. n8n's exports hold more: owners, versions, counters. */
const KEPT = ['pinData', 'tags', 'description'];

/**
 * The workflows in the text of a file: one, a list (as `n8n export:workflow --all` writes it), or what n8n's APIs
 * answer, `{data: …}`. Undefined for a text that is no JSON or holds something else.
 */
export function readWorkflows(text: string): LooseWorkflow[] | undefined {
  let value: Json;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, '')) as Json;
  } catch {
    return undefined;
  }
  const inner = asObject(value)?.['nodes'] === undefined ? (asObject(value)?.['data'] ?? value) : value;
  const list = Array.isArray(inner) ? inner : [inner];
  const workflows = list.map(readWorkflow);
  return workflows.every((one) => one !== undefined) && list.length > 0 ? workflows : undefined;
}

function readWorkflow(value: Json): LooseWorkflow | undefined {
  const workflow = asObject(value);
  const nodes = workflow?.['nodes'];
  if (!workflow || !Array.isArray(nodes) || !nodes.every(isNode)) return undefined;
  const names = new Set(nodes.map(({ name }) => name));
  if (names.size !== nodes.length) return undefined;
  const { id, name, connections, settings, meta } = workflow;
  return {
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    nodes: nodes.map((node) => ({ ...node, parameters: asObject(node['parameters']) ?? {} })),
    connections: asObject(connections) ?? {},
    settings: asObject(settings) ?? {},
    meta: asObject(meta) ?? {},
    more: Object.fromEntries(
      KEPT.flatMap((key) => (isEmpty(workflow[key]) ? [] : [[key, keptValue(key, workflow[key] as Json)]])),
    ),
  };
}

function isNode(value: Json): value is LooseNode {
  const node = asObject(value);
  const position = node?.['position'];
  return (
    typeof node?.['name'] === 'string' &&
    typeof node['type'] === 'string' &&
    Array.isArray(position) &&
    position.length === 2 &&
    position.every((one) => typeof one === 'number')
  );
}

/** Of a tag, n8n's own export holds when it was made as well. */
function keptValue(key: string, value: Json): Json {
  if (key !== 'tags' || !Array.isArray(value)) return value;
  return value.map((tag) => {
    const { id, name } = asObject(tag) ?? {};
    return id === undefined || name === undefined ? tag : { id, name };
  });
}

function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function asObject(value: Json | undefined): { [key: string]: Json } | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
}
