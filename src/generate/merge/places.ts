import { sameOutput, type Wiring } from './graph.ts';
import type { Wire } from './wires.ts';

/** A place for the user's nodes that they removed, and what stands there now. */
export interface EmptyPlace {
  key: string;
  /** The user's wires into their nodes on that spot. */
  heads: Wire[];
  /** The user's wires from their nodes to what comes behind. */
  tails: Wire[];
  /** The wires that lead past it. */
  direct: Wire[];
}

/**
 * Places that the user removed and does not want back: something leads on from where they stood. Nodes of ours that
 * were removed too have been put back into `mine` before.
 */
export function emptyPlaces(mine: Wiring, base: readonly Wire[], missing: Iterable<string>): EmptyPlace[] {
  return [...missing].flatMap((key) => {
    const before = base.filter(({ to }) => to === key);
    const behind = new Set(base.filter(({ from }) => from === key).map(({ to }) => to));
    const leaving = before.flatMap((wire) => mine.beside(wire));
    const heads = leaving.filter(({ to }) => mine.isTheirs(to));
    const direct = leaving.filter(({ to }) => behind.has(to));
    const tails = mine.all.filter(
      ({ from, type, to }) => mine.isTheirs(from) && type === 'main' && behind.has(to),
    );
    return heads.length + direct.length + tails.length > 0 ? [{ key, heads, tails, direct }] : [];
  });
}

/**
 * Leads the way through the user's nodes in an empty place as the generator now has the way through the place.
 * Changes `mine`.
 *
 * @param restored Nodes of ours that had been removed: where one of them comes behind the place, all the user's
 * nodes that lead nowhere end there.
 */
export function fillPlace(
  mine: Wiring,
  { key, heads, tails, direct }: EmptyPlace,
  ours: readonly Wire[],
  restored: ReadonlySet<string>,
): void {
  const before = ours.filter(({ to }) => to === key);
  const behind = ours.filter(({ from }) => from === key);
  for (const wire of direct) mine.remove(wire);
  if (before.length === 0 || behind.length === 0) return;
  for (const head of heads) {
    if (before.some((wire) => sameOutput(wire, head))) continue;
    mine.remove(head);
    for (const { from, type, output } of before) mine.add({ ...head, from, type, output });
  }
  for (const tail of tails) {
    if (behind.some(({ to }) => to === tail.to)) continue;
    mine.remove(tail);
    for (const { to, toType, input } of behind) mine.add({ ...tail, to, toType, input });
  }
  if (heads.length === 0) {
    for (const { from, type, output } of before) {
      for (const { to, toType, input } of behind) mine.add({ from, type, output, to, toType, input });
    }
  } else if (tails.length === 0 && behind.some(({ to }) => restored.has(to))) {
    const ends = [...new Set(heads.flatMap(({ to }) => [...mine.theirs(to)]))];
    for (const from of ends.filter((end) => mine.outOf(end).length === 0)) {
      for (const { to, toType, input } of behind) {
        mine.add({ from, type: 'main', output: 0, to, toType, input });
      }
    }
  }
}
