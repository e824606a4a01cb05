import { canonical } from '../../workflow/serialise.ts';
import type { Json, WorkflowNode } from '../../workflow/types.ts';
import { marker, roleOf } from '../marker.ts';
import type { NodeStamp } from '../stamp.ts';
import { fingerprint } from './fingerprint.ts';
import { type Renames, renameInOurs } from './names.ts';
import { shown } from './shown.ts';
import { threeWay } from './three-way.ts';
import type { Conflict, LooseNode, MergeReport } from './types.ts';

const STICKY_NOTE = 'n8n-nodes-base.stickyNote';

/** The names of our nodes at three times: as the user has them, as they were generated, as they are generated now. */
export interface Names {
  toThen: Renames;
  toNow: Renames;
}

/** What is known of the last generation of a node, and what to do about a conflict. */
export interface History {
  base: NodeStamp | undefined;
  /** False where the user's node may come from another generation than `base`. */
  sure: boolean;
  /** Take ours. */
  force: boolean;
}

/**
 * One of our nodes, brought up to date. Place, credentials and notes are the user's where they touched them; of the
 * rest each value comes from the side that changed it. The names of other nodes in the result are those of now.
 * With `force`, a node that has a conflict is taken as it is generated.
 */
export function mergeNode(
  { base, sure, force }: History,
  mine: LooseNode,
  ours: WorkflowNode,
  names: Names,
  report: MergeReport,
): { node: LooseNode; conflicts: Conflict[] } {
  const made = ours as unknown as LooseNode;
  const [then, now] = [names.toThen, names.toNow].map(
    (renames) => renameInOurs(mine as Json, renames) as LooseNode,
  );
  const { value, clashes, kept } = threeWay({ base: base?.fields, sure }, now ?? mine, then ?? mine, made);
  const certain = sure && base !== undefined;
  const harmless = ours.type === STICKY_NOTE && !certain;
  const conflicts = clashes.map(
    ({ path, ...sides }): Conflict => ({
      node: mine.name,
      parameter: path,
      ...shown(sides.mine, sides.ours),
      reason: certain
        ? 'you and the generator changed it since the last generation'
        : 'it differs, and nothing says which side changed it',
    }),
  );
  const clashing = conflicts.length > 0;
  if (clashing && harmless) report.taken.push(`${mine.name}: ${clashes.map(({ path }) => path).join(', ')}`);
  const whole = clashing && (force || harmless);
  if (!whole) report.kept.push(...kept.map((path) => `${mine.name}: ${path}`));
  const node: LooseNode = {
    ...(whole ? made : (value as LooseNode)),
    id: ours.id,
    name: mine.name,
    position: positionOf(base, mine, ours),
    ...credentialsOf(base, mine, ours),
    ...notesOf(base, mine, ours),
  };
  if (ours.webhookId) node['webhookId'] = ours.webhookId;
  return { node, conflicts: harmless ? [] : conflicts };
}

/** True where a node is not at the place that the last generation gave it. */
export function wasMoved(base: NodeStamp | undefined, mine: LooseNode): boolean {
  return base?.position !== fingerprint(canonical(mine.position));
}

function positionOf(base: NodeStamp | undefined, mine: LooseNode, ours: WorkflowNode): LooseNode['position'] {
  return wasMoved(base, mine) ? mine.position : ours.position;
}

/** The user's credential, unless it is the one of the last generation and that one is called otherwise by now. */
function credentialsOf(
  base: NodeStamp | undefined,
  mine: LooseNode,
  ours: WorkflowNode,
): { credentials?: { [type: string]: Json } } {
  const theirs = asObject(mine['credentials']) ?? {};
  const result: { [type: string]: Json } = { ...theirs };
  for (const [type, one] of Object.entries(ours.credentials ?? {})) {
    const name = asObject(theirs[type])?.['name'];
    const chosen = typeof name === 'string' && fingerprint(name) !== base?.credentials?.[type];
    if (name !== one.name && !chosen) result[type] = { ...one };
  }
  return Object.keys(result).length > 0 ? { credentials: result } : {};
}

/** What the user wrote stays; the line that tells our nodes comes back where it was removed. */
function notesOf(base: NodeStamp | undefined, mine: LooseNode, ours: WorkflowNode): { notes?: string } {
  const theirs = mine['notes'];
  if (typeof theirs !== 'string' || theirs.trim() === '' || fingerprint(theirs) === base?.notes) {
    return ours.notes === undefined ? {} : { notes: ours.notes };
  }
  const role = roleOf(ours);
  return { notes: role === undefined || roleOf(mine) === role ? theirs : `${marker(role)}\n${theirs}` };
}

function asObject(value: Json | undefined): { [key: string]: Json } | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
}
