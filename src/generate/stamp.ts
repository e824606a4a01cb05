import { createHash } from 'node:crypto';
import { canonical } from '../workflow/serialise.ts';
import type { Json, Workflow } from '../workflow/types.ts';

/** What a generated file says of itself, under `meta.oncehook`. n8n drops it where a workflow is pasted. */
export interface Stamp {
  /** The version that wrote the file. */
  generator: string;
  project: string;
  /** The source's id. */
  source: string;
  /** The slug of the source's provider; files of the first version lack it. */
  provider?: string;
  /** Of everything but `meta`, as it was generated. */
  digest: string;
  /** Of each node, by name, to tell which one was edited. */
  nodes: Record<string, string>;
}

/** The workflow with its stamp. */
export function stamp(
  workflow: Workflow,
  known: Pick<Stamp, 'generator' | 'project' | 'source' | 'provider'>,
): Workflow {
  const nodes = Object.fromEntries(workflow.nodes.map((node) => [node.name, digest(node).slice(0, 8)]));
  const oncehook = { ...known, digest: digest({ ...workflow, meta: undefined }), nodes };
  return { ...workflow, meta: { ...workflow.meta, oncehook } };
}

/** The stamp of a file's text, or undefined for a file that is no generated workflow. */
export function stampOf(text: string): Stamp | undefined {
  const oncehook = asObject(asObject(asObject(parse(text))?.['meta'])?.['oncehook']);
  const nodes = asObject(oncehook?.['nodes']);
  const texts = [oncehook?.['generator'], oncehook?.['project'], oncehook?.['source'], oncehook?.['digest']];
  const whole = texts.every((value) => typeof value === 'string') && nodes !== undefined;
  return whole ? (oncehook as unknown as Stamp) : undefined;
}

/**
 * What was changed in a generated file since it was written: the names of its nodes, and words for the rest.
 * Empty where nothing was; other spacing or another order of keys is no change. Undefined for a file that is
 * no generated workflow.
 */
export function editsOf(text: string): string[] | undefined {
  const known = stampOf(text);
  const workflow = asObject(parse(text));
  if (!known || !workflow) {
    return undefined;
  }
  if (digest({ ...workflow, meta: undefined }) === known.digest) {
    return [];
  }
  const nodes = Array.isArray(workflow['nodes']) ? workflow['nodes'] : [];
  const names = new Set<string>();
  const changed: string[] = [];
  for (const node of nodes) {
    const name = String(asObject(node)?.['name']);
    const before = known.nodes[name];
    if (before === undefined || names.has(name)) {
      changed.push(`"${name}" (added)`);
    } else if (before !== digest(node).slice(0, 8)) {
      changed.push(`"${name}"`);
    }
    names.add(name);
  }
  for (const name of Object.keys(known.nodes)) {
    if (!names.has(name)) {
      changed.push(`"${name}" (removed)`);
    }
  }
  return changed.length > 0 ? changed : ['wires, settings or name of the workflow'];
}

/** Keys that are undefined do not count, as in JSON. */
function digest(value: unknown): string {
  return createHash('sha256')
    .update(canonical(value as Json))
    .digest('hex')
    .slice(0, 32);
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
