import { canonical } from '../workflow/serialise.ts';
import type { Json, Workflow } from '../workflow/types.ts';
import { keyOf } from './marker.ts';
import { fingerprintsOf, leavesOf } from './merge/fields.ts';
import { fingerprint } from './merge/fingerprint.ts';
import { wiresOf, wireText } from './merge/wires.ts';

/** What a stamp keeps of one node as it was generated. */
export interface NodeStamp {
  name: string;
  /** The fingerprint of all of it. */
  whole: string;
  position: string;
  /** Of each value that is merged by itself, by path: see `leavesOf`. */
  fields: Record<string, string>;
  /** The names of its credentials, by type. */
  credentials?: Record<string, string>;
  notes?: string;
}

/** What a generated file says of itself, under `meta.oncehook`. n8n drops it where a workflow is pasted. */
export interface Stamp {
  /** The version that wrote the file. */
  generator: string;
  project: string;
  /** The source's id. */
  source: string;
  /** The slug of the source's provider; files of the first version lack it. */
  provider?: string;
  /** The workflow's name as it was generated. */
  name: string;
  /** Made of the fingerprints: tells whether anything was changed at all. */
  digest: string;
  /** Of each node, by its key. What the user added is never part of it. */
  nodes: Record<string, NodeStamp>;
  /** Every wire as it was generated. */
  wires: string[];
  /** The fingerprint of every setting. */
  settings: Record<string, string>;
}

/** The stamp of a workflow as it was generated. */
export function stampFor(
  workflow: Workflow,
  known: Pick<Stamp, 'generator' | 'project' | 'source' | 'provider'>,
): Stamp {
  const nodes: Record<string, NodeStamp> = {};
  for (const node of workflow.nodes) {
    const { name, position, credentials, notes } = node;
    const names = Object.entries(credentials ?? {}).map(([type, one]) => [type, fingerprint(one.name)]);
    nodes[keyOf(node)] = {
      name,
      whole: fingerprint(canonical(node as unknown as Json)),
      position: fingerprint(canonical(position)),
      fields: fingerprintsOf(leavesOf(node as unknown as { [key: string]: Json })),
      ...(credentials ? { credentials: Object.fromEntries(names) } : {}),
      ...(notes === undefined ? {} : { notes: fingerprint(notes) }),
    };
  }
  const keys = new Map(workflow.nodes.map((node) => [node.name, keyOf(node)]));
  return {
    ...known,
    name: workflow.name,
    digest: digest(workflow as unknown as { [key: string]: Json }, Object.values(nodes)),
    nodes,
    wires: wiresOf(workflow.connections as unknown as { [name: string]: Json }, keys).map(wireText),
    settings: fingerprintsOf(leavesOf(workflow.settings)),
  };
}

/** The workflow with its stamp. */
export function stamp(
  workflow: Workflow,
  known: Pick<Stamp, 'generator' | 'project' | 'source' | 'provider'>,
): Workflow {
  const oncehook = stampFor(workflow, known) as unknown as Json;
  return { ...workflow, meta: { ...workflow.meta, oncehook } };
}

/** The stamp of a file's text, or undefined for a file that is no generated workflow. */
export function stampOf(text: string): Stamp | undefined {
  return stampIn(asObject(parse(text))?.['meta']);
}

/** The stamp in a workflow's `meta`, or undefined where there is none, or one with parts missing. */
export function stampIn(meta: unknown): Stamp | undefined {
  const found = asObject(asObject(meta)?.['oncehook']);
  const [nodes, settings, wires] = [
    asObject(found?.['nodes']),
    asObject(found?.['settings']),
    found?.['wires'],
  ];
  const texts = ['generator', 'project', 'source', 'name', 'digest'].map((key) => found?.[key]);
  const whole =
    texts.every((value) => typeof value === 'string') &&
    Array.isArray(wires) &&
    wires.every((wire) => typeof wire === 'string') &&
    areTexts(settings) &&
    nodes !== undefined &&
    Object.values(nodes).every(isNodeStamp);
  return whole ? (found as unknown as Stamp) : undefined;
}

function isNodeStamp(value: unknown): boolean {
  const node = asObject(value);
  const texts = ['name', 'whole', 'position'].map((key) => node?.[key]);
  return texts.every((text) => typeof text === 'string') && areTexts(asObject(node?.['fields']));
}

function areTexts(value: Record<string, unknown> | undefined): boolean {
  return value !== undefined && Object.values(value).every((text) => typeof text === 'string');
}

/**
 * What is in a generated file that is not as it was generated: the names of its nodes, and words for the rest.
 * Empty where all of it is; other spacing or another order of keys is no change. Undefined for a file that is
 * no generated workflow.
 */
export function editsOf(text: string): string[] | undefined {
  const known = stampOf(text);
  const workflow = asObject(parse(text));
  if (!known || !workflow) {
    return undefined;
  }
  const nodes = Array.isArray(workflow['nodes']) ? workflow['nodes'] : [];
  const prints = nodes.map((node) => fingerprint(canonical(node as Json)));
  const found = prints.map((whole) => ({ whole }));
  if (digest(workflow as { [key: string]: Json }, found) === known.digest) {
    return [];
  }
  const before = new Map(Object.values(known.nodes).map(({ name, whole }) => [name, whole]));
  const names = new Set<string>();
  const changed: string[] = [];
  for (const [index, node] of nodes.entries()) {
    const name = String(asObject(node)?.['name']);
    const whole = before.get(name);
    if (whole === undefined || names.has(name)) {
      changed.push(`"${name}" (added)`);
    } else if (whole !== prints[index]) {
      changed.push(`"${name}"`);
    }
    names.add(name);
  }
  for (const name of before.keys()) {
    if (!names.has(name)) {
      changed.push(`"${name}" (removed)`);
    }
  }
  return changed.length > 0 ? changed : ['wires, settings or name of the workflow'];
}

/** Of a workflow, with its nodes' fingerprints in the place of the nodes, and without `meta`. */
function digest(workflow: { [key: string]: Json }, nodes: { whole: string }[]): string {
  const { meta: _, ...rest } = workflow;
  return fingerprint(canonical({ ...rest, nodes: nodes.map(({ whole }) => whole) }));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
