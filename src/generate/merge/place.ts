import type { WorkflowNode } from '../../workflow/types.ts';
import type { LooseNode } from './types.ts';

const SIZE = 96;
const STEP = 192;
const STICKY_NOTE = 'n8n-nodes-base.stickyNote';

/**
 * Where a node of ours goes that the user's canvas does not have: as far from its neighbour as in the generator's
 * layout, and below whatever stands there. `ours` are all nodes as generated, `placed` those that have their place,
 * both by key; `all` is the whole canvas.
 */
export function placeFor(
  node: WorkflowNode,
  ours: ReadonlyMap<string, WorkflowNode>,
  placed: ReadonlyMap<string, LooseNode>,
  all: readonly LooseNode[],
): [x: number, y: number] {
  const distance = (one: WorkflowNode) =>
    Math.hypot(one.position[0] - node.position[0], one.position[1] - node.position[1]);
  const [near] = [...ours]
    .flatMap(([key, one]) => {
      const there = placed.get(key);
      return there && one !== node ? [{ there, one }] : [];
    })
    .sort((a, b) => distance(a.one) - distance(b.one));
  let [x, y] = node.position;
  if (near) {
    x += near.there.position[0] - near.one.position[0];
    y += near.there.position[1] - near.one.position[1];
  }
  const solid = all.filter(({ type }) => type !== STICKY_NOTE);
  const meets = ({ position: [left, top] }: LooseNode) =>
    Math.abs(left - x) < SIZE && Math.abs(top - y) < SIZE;
  if (node.type !== STICKY_NOTE) {
    while (solid.some(meets)) y += STEP;
  }
  return [x, y];
}
