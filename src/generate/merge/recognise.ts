import type { Workflow } from '../../workflow/types.ts';
import { keyOf, roleOf } from '../marker.ts';
import type { Stamp } from '../stamp.ts';
import type { LooseNode, LooseWorkflow } from './types.ts';

export interface Recognised {
  /** Our nodes in the user's workflow, by key. */
  ours: Map<string, LooseNode>;
  /** Nodes that the last generation made and this one does not. */
  retired: Map<string, LooseNode>;
  /** More nodes of one key: a second paste, or a node that the user duplicated. */
  copies: Map<LooseNode, string>;
}

/**
 * Finds our nodes among the user's: by id; by the role in the notes where n8n has given new ids; and by name and type
 * where no id is known at all.
 */
export function recognise(mine: LooseWorkflow, ours: Workflow, base: Stamp | undefined): Recognised {
  const found = new Map<string, LooseNode>();
  const copies = new Map<LooseNode, string>();
  const taken = new Set<LooseNode>();
  const take = (key: string, node: LooseNode) => {
    found.set(key, node);
    taken.add(node);
  };
  const names = new Map(Object.entries(base?.nodes ?? {}).map(([key, { name }]) => [key, [name]]));
  for (const node of ours.nodes) {
    names.set(keyOf(node), [...(names.get(keyOf(node)) ?? []), node.name]);
    const same = mine.nodes.find(({ id }) => id === node.id);
    if (same) take(keyOf(node), same);
  }
  const byId = found.size > 0;
  for (const [key, known] of names) {
    const marked = mine.nodes.filter((node) => !taken.has(node) && roleOf(node) === key);
    if (!found.has(key)) {
      const best = marked.find(({ name }) => known.includes(name)) ?? marked[0];
      if (best) take(key, best);
    }
    for (const node of marked) {
      if (!taken.has(node)) copies.set(node, key);
    }
  }
  if (!byId) {
    const types = new Map(ours.nodes.map((node) => [keyOf(node), node.type]));
    for (const [key, known] of names) {
      if (found.has(key)) continue;
      const same = mine.nodes.find(
        (node) =>
          !taken.has(node) && !copies.has(node) && known.includes(node.name) && node.type === types.get(key),
      );
      if (same) take(key, same);
    }
  }
  const made = new Set(ours.nodes.map(keyOf));
  const entries = [...found];
  return {
    ours: new Map(entries.filter(([key]) => made.has(key))),
    retired: new Map(entries.filter(([key]) => !made.has(key))),
    copies,
  };
}

/** True where a workflow is that of a source: by its stamp, its ids, or the marked node that takes its requests. */
export function belongs(
  mine: LooseWorkflow,
  ours: Workflow,
  stamped: Stamp | undefined,
  owner: Owner,
): boolean {
  if (stamped) return stamped.project === owner.project && stamped.source === owner.source;
  const ids = new Set(ours.nodes.flatMap(({ id, webhookId }) => (webhookId ? [id, webhookId] : [id])));
  const doors = ours.nodes.filter(({ webhookId }) => webhookId !== undefined);
  return (
    mine.id === ours.id ||
    mine.nodes.some(
      ({ id, webhookId }) =>
        (typeof id === 'string' && ids.has(id)) || (typeof webhookId === 'string' && ids.has(webhookId)),
    ) ||
    doors.some((door) =>
      mine.nodes.some(
        (node) => roleOf(node) === keyOf(door) && node.parameters['path'] === door.parameters['path'],
      ),
    )
  );
}

/** Whose workflow it is. */
export interface Owner {
  project: string;
  /** The source's id. */
  source: string;
}
