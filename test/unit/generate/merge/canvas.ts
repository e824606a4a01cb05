import { randomUUID } from 'node:crypto';
import { readWorkflows } from '../../../../src/generate/merge/read.ts';
import { type MergedFile, mergeFile } from '../../../../src/generate/merge/source-file.ts';
import { sourceWorkflow } from '../../../../src/generate/source/workflow.ts';
import { stamp } from '../../../../src/generate/stamp.ts';
import type { Statements } from '../../../../src/generate/statements.ts';
import { serialise } from '../../../../src/workflow/serialise.ts';
import type { Json, Workflow } from '../../../../src/workflow/types.ts';
import { RAW, type RawSource, resolved, STATEMENTS } from '../sources.ts';

export interface Target {
  node: string;
  type: string;
  index: number;
}

/** A workflow as the tests edit it. */
export interface Canvas {
  id?: string;
  name: string;
  nodes: CanvasNode[];
  connections: Record<string, Record<string, (Target[] | null)[]>>;
  settings: Record<string, Json>;
  meta?: Record<string, Json>;
  [key: string]: unknown;
}

export interface CanvasNode {
  id: string;
  name: string;
  type: string;
  typeVersion: number;
  position: [number, number];
  parameters: Record<string, Json>;
  credentials?: Record<string, { id: string | null; name: string }>;
  notes?: string;
  [key: string]: unknown;
}

/** What the generator makes of one source; `base` names one of RAW. */
export function generated(
  raw: RawSource = {},
  statements: Partial<Statements> = {},
  change: (workflow: Workflow) => Workflow = (workflow) => workflow,
): Workflow {
  const { name = 'stripe', base = 'stripe', ...rest } = raw;
  const source = resolved(String(name), { ...RAW[base as keyof typeof RAW], id: 'stripe', ...rest });
  const workflow = change(sourceWorkflow(source, { ...STATEMENTS, ...statements }));
  return stamp(workflow, { generator: '1.0.0', project: 'shop', source: 'stripe', provider: 'stripe' });
}

/** A copy that a test may edit. */
export function canvas(workflow: Workflow): Canvas {
  return JSON.parse(serialise(workflow)) as Canvas;
}

export interface MergeInput {
  before?: Canvas | string;
  exported?: Canvas;
  force?: boolean;
}

/** Merges as `generate` does; the text and what it holds. */
export function merged(
  made: Workflow,
  { before, exported, force = false }: MergeInput,
): MergedFile & { canvas: Canvas } {
  const [read] = exported ? (readWorkflows(JSON.stringify(exported)) ?? []) : [];
  const result = mergeFile({
    ...{ project: 'shop', source: 'stripe', made, text: serialise(made), force },
    ...(before === undefined ? {} : { before: typeof before === 'string' ? before : JSON.stringify(before) }),
    ...(read ? { exported: read } : {}),
  });
  return { ...result, canvas: JSON.parse(result.content) as Canvas };
}

export function node(of: Canvas, name: string): CanvasNode {
  const found = of.nodes.find((one) => one.name === name);
  if (!found) throw new Error(`No node "${name}" among ${of.nodes.map((one) => one.name).join(', ')}`);
  return found;
}

/** The names of the nodes behind an output. */
export function behind({ connections }: Canvas, name: string, output = 0): string[] {
  return (connections[name]?.['main']?.[output] ?? []).map((target) => target.node);
}

export function add(to: Canvas, name: string, type = 'n8n-nodes-base.set'): CanvasNode {
  const made: CanvasNode = {
    ...{ id: randomUUID(), name, type, typeVersion: 1, position: [4000, 4000] },
    parameters: { value: name },
  };
  to.nodes.push(made);
  return made;
}

export function connect({ connections }: Canvas, from: string, to: string, output = 0): void {
  const kinds = connections[from] ?? {};
  const outputs = kinds['main'] ?? [];
  while (outputs.length <= output) outputs.push([]);
  outputs[output] = [...(outputs[output] ?? []), { node: to, type: 'main', index: 0 }];
  connections[from] = { ...kinds, main: outputs };
}

export function cut({ connections }: Canvas, from: string, to: string, output = 0): void {
  const outputs = connections[from]?.['main'];
  if (outputs) outputs[output] = (outputs[output] ?? []).filter((target) => target.node !== to);
}

/** A new node on a wire. */
export function splice(on: Canvas, from: string, to: string, name: string, output = 0): void {
  if (!behind(on, from, output).includes(to)) throw new Error(`No wire from "${from}" to "${to}"`);
  add(on, name);
  cut(on, from, to, output);
  connect(on, from, name, output);
  connect(on, name, to);
}

/** As n8n deletes a node: where it has one way in and out, the wires close over it. */
export function remove(from: Canvas, name: string): void {
  const next = behind(from, name);
  for (const [source, kinds] of Object.entries(from.connections)) {
    for (const [output, targets] of (kinds['main'] ?? []).entries()) {
      if (!targets?.some((target) => target.node === name)) continue;
      cut(from, source, name, output);
      for (const to of next)
        if (!behind(from, source, output).includes(to)) connect(from, source, to, output);
    }
  }
  delete from.connections[name];
  from.nodes = from.nodes.filter((one) => one.name !== name);
}

/** As n8n renames a node: in wires, pinned data, and where expressions ask for it. */
export function rename(on: Canvas, name: string, to: string): void {
  const quoted = (text: string) =>
    !text.startsWith('=') ? text : text.replaceAll(`$('${name}')`, `$('${to.replaceAll("'", "\\'")}')`);
  const inside = (value: Json): Json =>
    typeof value === 'string'
      ? quoted(value)
      : Array.isArray(value)
        ? value.map(inside)
        : value !== null && typeof value === 'object'
          ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inside(inner)]))
          : value;
  for (const one of on.nodes) {
    if (one.name === name) one.name = to;
    one.parameters = inside(one.parameters) as Record<string, Json>;
  }
  const wires = Object.entries(on.connections).map(([from, kinds]) => {
    for (const outputs of Object.values(kinds)) {
      for (const target of outputs.flatMap((targets) => targets ?? []))
        if (target.node === name) target.node = to;
    }
    return [from === name ? to : from, kinds] as const;
  });
  on.connections = Object.fromEntries(wires);
}

/** As a paste into n8n's canvas leaves it: new ids, no meta, no settings, defaults left out, another place. */
export function pasted(from: Canvas, suffix = ''): Canvas {
  const copy = structuredClone(from);
  const named = (name: string) => `${name}${suffix}`;
  return {
    name: 'My workflow',
    nodes: copy.nodes.map((one) => {
      const { mode: _, resource: __, ...parameters } = one.parameters;
      const options = parameters['options'];
      if (options && Object.keys(options).length === 0) delete parameters['options'];
      const position: [number, number] = [one.position[0] + 160, one.position[1] - 320];
      return { ...one, id: randomUUID(), name: named(one.name), parameters, position };
    }),
    connections: Object.fromEntries(
      Object.entries(copy.connections).map(([name, kinds]) => [
        named(name),
        Object.fromEntries(
          Object.entries(kinds).map(([kind, outputs]) => [
            kind,
            outputs.map((targets) => (targets ?? []).map((one) => ({ ...one, node: named(one.node) }))),
          ]),
        ),
      ]),
    ),
    settings: { executionOrder: 'v1' },
  };
}
