import { Bug } from '../../errors.ts';
import type { Json, Workflow, WorkflowNode } from '../../workflow/types.ts';
import { keyOf } from '../marker.ts';
import type { NodeStamp, Stamp } from '../stamp.ts';
import { connect } from './connect.ts';
import { copiesOf } from './copies.ts';
import { gateOf } from './gate.ts';
import { freeName, type Renames, renameInOurs, renameInTheirs } from './names.ts';
import { mergeNode, wasMoved } from './node.ts';
import { placeFor } from './place.ts';
import { type Recognised, recognise } from './recognise.ts';
import { mergeSettings } from './settings.ts';
import { emptyReport, type LooseNode, type LooseWorkflow, type Merged } from './types.ts';
import { connectionsOf, wireOf, wiresOf } from './wires.ts';

export interface MergeOptions {
  /** The stamp of the generation that `mine` comes from; undefined where nobody knows it. */
  base: Stamp | undefined;
  /** False where `base` may be of another generation: then what equals it is ours, and nothing else is known. */
  sure?: boolean;
  /** Take ours for the nodes that have a conflict. */
  force?: boolean;
}

/**
 * The workflow that the generator makes now, with everything that is the user's in `mine`. A pure function; merging
 * its result once more changes nothing. Where there are conflicts, `workflow` is good for nothing unless `force` is
 * given.
 */
export function merge(mine: LooseWorkflow, ours: Workflow, options: MergeOptions): Merged {
  const { base, sure = true, force = false } = options;
  const report = emptyReport();
  const found = recognise(mine, ours, base);
  const { extra, conflicts } = copiesOf(mine, ours, found, report, force);
  const nodes = mine.nodes.filter((node) => !extra.has(node));
  const keys = keysOf(nodes, found);
  const made = new Map(ours.nodes.map((node) => [keyOf(node), node]));
  const names = namesOf(nodes, found, ours, base);

  const ourKeys = new Map(ours.nodes.map((node) => [node.name, keyOf(node)]));
  const ourWires = wiresOf(ours.connections as unknown as { [name: string]: Json }, ourKeys);
  const baseWires = (sure ? base : undefined)?.wires.flatMap((text) => wireOf(text) ?? []);
  const gate = gateOf(ours, ourWires);
  const connected = connect({
    base: baseWires ?? ourWires,
    mine: wiresOf(mine.connections, keys),
    ours: ourWires,
    present: new Set([...found.ours.keys(), ...found.retired.keys()]),
    made: new Set(made.keys()),
    gate,
    force,
    nameOf: (key) => names.final.get(key) ?? found.retired.get(key)?.name ?? key.slice(THEIRS.length),
  });
  conflicts.push(...connected.conflicts);
  report.warnings.push(...connected.warnings);

  const placed = new Map<string, LooseNode>();
  for (const [key, node] of made) {
    const theirs = found.ours.get(key);
    if (!theirs) continue;
    if (gate.places.has(key) && isTaken(theirs, node)) {
      report.kept.push(theirs.name);
      placed.set(key, { ...theirs, id: node.id });
      continue;
    }
    const merged = mergeNode({ base: base?.nodes[key], sure, force }, theirs, node, names, report);
    conflicts.push(...merged.conflicts);
    placed.set(key, named(merged.node, key, names));
  }
  const users = nodes
    .filter((node) => keys.get(node.name)?.startsWith(THEIRS))
    .map((node) => {
      const copied = found.copies.get(node) ?? '';
      const original = made.get(copied);
      if (original === undefined || gate.places.has(copied)) {
        return renameInTheirs(node as Json, names.inTheirs) as LooseNode;
      }
      const merged = mergeNode({ base: base?.nodes[copied], sure, force }, node, original, names, report);
      conflicts.push(...merged.conflicts);
      return { ...named(merged.node, copied, names), name: node.name, id: node['id'] ?? '' };
    });
  keepCanvas(found, placed, base, users);
  const all = [...placed.values(), ...users];
  const result: LooseNode[] = [];
  for (const [key, node] of made) {
    if (connected.away.has(key)) continue;
    const there = placed.get(key);
    if (there) {
      result.push(there);
      continue;
    }
    const position = placeFor(node, made, placed, all);
    const fresh = named({ ...(node as unknown as LooseNode), position }, key, names);
    if (!base || base.nodes[key]) report.restored.push(fresh.name);
    placed.set(key, fresh);
    all.push(fresh);
    result.push(fresh);
  }
  report.kept.push(...users.map(({ name }) => name), ...connected.kept);
  for (const { name } of found.retired.values()) report.dropped.push(name);

  const { settings, conflicts: inSettings } = mergeSettings(
    sure ? base : undefined,
    mine,
    ours,
    force,
    report,
  );
  conflicts.push(...inSettings);
  const { oncehook: _, ...meta } = mine.meta;
  const workflow: LooseWorkflow = {
    id: mine.id ?? ours.id,
    name: mine.name === undefined || mine.name === base?.name ? ours.name : mine.name,
    nodes: [...result, ...users],
    connections: connectionsOf(connected.wires, new Map([...names.final, ...theirNames(keys)])),
    settings,
    meta,
    more: pinned(mine.more, nodes, keys, names.final),
  };
  return { workflow, conflicts, report };
}

/** The key of a node of the user's: their names are what n8n wires go by. */
const THEIRS = 'user:';

function keysOf(nodes: LooseNode[], { ours, retired }: Recognised): Map<string, string> {
  const known = new Map([...ours, ...retired].map(([key, { name }]) => [name, key]));
  return new Map(nodes.map(({ name }) => [name, known.get(name) ?? `${THEIRS}${name}`]));
}

function theirNames(keys: ReadonlyMap<string, string>): [key: string, name: string][] {
  return [...keys].flatMap(([name, key]) =>
    key.startsWith(THEIRS) ? [[key, name] as [string, string]] : [],
  );
}

interface AllNames {
  /** What our nodes are called in the result, by key. */
  final: Map<string, string>;
  /** From the user's names to those of the last generation, of this one, and back from these to the result's. */
  toThen: Renames;
  toNow: Renames;
  toFinal: Renames;
  /** From names that the generator no longer gives, for the user's own texts. */
  inTheirs: Renames;
}

/** A name that the user gave stays; one that the generator gave becomes the one that it gives now. */
function namesOf(nodes: LooseNode[], found: Recognised, ours: Workflow, base: Stamp | undefined): AllNames {
  const taken = new Set(nodes.map(({ name }) => name));
  const final = new Map<string, string>();
  const [toThen, toNow, toFinal, inTheirs] = [new Map(), new Map(), new Map(), new Map()] as Map<
    string,
    string
  >[];
  for (const node of ours.nodes) {
    const key = keyOf(node);
    const mine = found.ours.get(key)?.name;
    const then = base?.nodes[key]?.name ?? node.name;
    let name = mine ?? freeName(node.name, taken);
    if (mine !== undefined && mine === then && !taken.has(node.name)) {
      name = node.name;
      taken.add(name);
    }
    final.set(key, name);
    if (mine !== undefined && mine !== then) toThen?.set(mine, then);
    if (mine !== undefined && mine !== node.name) toNow?.set(mine, node.name);
    if (name !== node.name) toFinal?.set(node.name, name);
    if (mine !== undefined && mine !== name) inTheirs?.set(mine, name);
  }
  const none: Renames = new Map();
  return {
    final,
    ...{ toThen: toThen ?? none, toNow: toNow ?? none, toFinal: toFinal ?? none, inTheirs: inTheirs ?? none },
  };
}

function named(node: LooseNode, key: string, names: AllNames): LooseNode {
  const name = names.final.get(key);
  if (name === undefined) throw new Bug(`A merged node has no name: ${key}`);
  return { ...(renameInOurs(node as Json, names.toFinal) as LooseNode), name };
}

/** A place for the user's nodes that does something by now. */
function isTaken(mine: LooseNode, ours: WorkflowNode): boolean {
  return mine.type !== ours.type || Object.keys(mine.parameters).length > 0;
}

/** Where the user moved or added anything, nothing of the canvas moves by itself. */
function keepCanvas(
  found: Recognised,
  placed: Map<string, LooseNode>,
  base: Stamp | undefined,
  users: LooseNode[],
): void {
  const before = (key: string): NodeStamp | undefined => base?.nodes[key];
  if (users.length === 0 && [...found.ours].every(([key, node]) => !wasMoved(before(key), node))) return;
  for (const [key, node] of placed) {
    const position = found.ours.get(key)?.position;
    if (position) placed.set(key, { ...node, position });
  }
}

/** Pinned data goes by the names of nodes. */
function pinned(
  more: LooseWorkflow['more'],
  nodes: LooseNode[],
  keys: ReadonlyMap<string, string>,
  final: ReadonlyMap<string, string>,
): LooseWorkflow['more'] {
  const { pinData, ...rest } = more;
  if (pinData === undefined || pinData === null || typeof pinData !== 'object' || Array.isArray(pinData))
    return more;
  const known = new Set(nodes.map(({ name }) => name));
  const kept = Object.entries(pinData)
    .filter(([name]) => known.has(name))
    .map(([name, data]) => [final.get(keys.get(name) ?? '') ?? name, data]);
  return kept.length > 0 ? { ...rest, pinData: Object.fromEntries(kept) as Json } : rest;
}
