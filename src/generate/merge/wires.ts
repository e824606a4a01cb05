import type { Json } from '../../workflow/types.ts';

/** One wire between two nodes, which are named by keys: the generator's roles, or anything for other nodes. */
export interface Wire {
  from: string;
  /** n8n's kind of connection: `main`, `ai_tool`, … */
  type: string;
  output: number;
  to: string;
  toType: string;
  input: number;
}

/** A wire as one text: what a stamp keeps. */
export function wireText({ from, type, output, to, toType, input }: Wire): string {
  const end = (kind: string, number: number) => (kind === 'main' ? `${number}` : `${kind} ${number}`);
  return `${from}:${end(type, output)} > ${to}:${end(toType, input)}`;
}

/** The wire of such a text, or undefined for another text. */
export function wireOf(text: string): Wire | undefined {
  const [, from = '', output = '', to = '', input = ''] =
    /^(.+):(\d{1,4}) > (.+):(\d{1,4})$/.exec(text) ?? [];
  return from === ''
    ? undefined
    : { from, type: 'main', output: Number(output), to, toType: 'main', input: Number(input) };
}

/** The wires of a workflow in the order of its file. A wire to or from a node that does not exist is left out. */
export function wiresOf(connections: { [name: string]: Json }, keys: ReadonlyMap<string, string>): Wire[] {
  const wires: Wire[] = [];
  const seen = new Set<string>();
  for (const [name, kinds] of Object.entries(connections)) {
    const from = keys.get(name);
    if (from === undefined) continue;
    for (const [type, outputs] of Object.entries(asObject(kinds) ?? {})) {
      for (const [output, targets] of (Array.isArray(outputs) ? outputs : []).entries()) {
        for (const target of Array.isArray(targets) ? targets : []) {
          const { node, type: toType = 'main', index = 0 } = asObject(target) ?? {};
          const to = typeof node === 'string' ? keys.get(node) : undefined;
          if (to === undefined || typeof toType !== 'string' || typeof index !== 'number') continue;
          const wire = { from, type, output, to, toType, input: index };
          if (seen.has(wireText(wire))) continue;
          seen.add(wireText(wire));
          wires.push(wire);
        }
      }
    }
  }
  return wires;
}

/** The wires as n8n writes them, in the order they are given. */
export function connectionsOf(
  wires: readonly Wire[],
  names: ReadonlyMap<string, string>,
): { [name: string]: Json } {
  const connections = new Map<string, Map<string, { node: string; type: string; index: number }[][]>>();
  for (const { from, type, output, to, toType, input } of wires) {
    const [source, node] = [names.get(from), names.get(to)];
    if (source === undefined || node === undefined) continue;
    const kinds =
      connections.get(source) ?? new Map<string, { node: string; type: string; index: number }[][]>();
    connections.set(source, kinds);
    const outputs = kinds.get(type) ?? [];
    kinds.set(type, outputs);
    while (outputs.length <= output) outputs.push([]);
    outputs[output]?.push({ node, type: toType, index: input });
  }
  return Object.fromEntries([...connections].map(([name, kinds]) => [name, Object.fromEntries(kinds)]));
}

function asObject(value: Json | undefined): { [key: string]: Json } | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
}
