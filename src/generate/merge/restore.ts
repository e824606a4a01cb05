import { reach, type Wiring } from './graph.ts';
import { type Wire, wireText } from './wires.ts';

/**
 * Puts nodes of ours that the user removed back into the wires, as the last generation had them. What led past the
 * missing node, over the user's nodes or by n8n's own repair of the wires, leads through it again. Changes `mine`.
 *
 * @param missing Their keys; a place of the user's is not among them.
 * @param without Missing nodes that are not put back: their wires do not come back either.
 * @param mayWait True for a wire that the user's nodes may stand on: where theirs lead nowhere since our node behind
 * them is gone, they lead to it again.
 */
export function restore(
  mine: Wiring,
  base: readonly Wire[],
  missing: ReadonlySet<string>,
  without: ReadonlySet<string>,
  mayWait: (wire: Wire) => boolean,
): void {
  const known = new Set(base.map(wireText));
  const next = (key: string) => base.filter(({ from }) => from === key);
  const below = (wires: Wire[]) =>
    reach(
      wires.map(({ to }) => to),
      (key) => next(key).map(({ to }) => to),
    );
  const open = new Set(missing);
  const ordered = inOrder(base, missing);
  // A node with several ways in may come before one that leads to it: another pass finds that one in its place.
  let moved = true;
  for (let pass = 0; moved && pass <= ordered.length; pass += 1) {
    moved = false;
    for (const key of ordered) {
      open.delete(key);
      const outs = next(key);
      const downstream = below(outs);
      for (const wire of base.filter(({ to }) => to === key)) {
        if (open.has(wire.from) || without.has(wire.from)) continue;
        const passers = mine.beside(wire).map((passing) => {
          const ends = mine.isTheirs(passing.to)
            ? mine.returns(passing.to).map(({ to }) => to)
            : [passing.to];
          const end = known.has(wireText(passing)) ? undefined : ends.find((one) => downstream.has(one));
          return { passing, end, dangles: ends.length === 0 };
        });
        // Where everything behind was removed as well, the user's nodes lead nowhere, but they stand in their place.
        const place = passers.some(({ end }) => end !== undefined)
          ? undefined
          : [...without].find((one) => downstream.has(one));
        for (const { passing, end, dangles } of passers) {
          const through = end ?? (dangles ? place : undefined);
          const out = through === undefined ? undefined : outs.find((one) => below([one]).has(through));
          if (!out) continue;
          moved = true;
          mine.remove(passing);
          mine.add({ ...passing, from: key, type: out.type, output: out.output });
        }
        if (mine.heads(wire).length > 0) continue;
        const ends = passers.every(({ dangles }) => dangles) && mayWait(wire) ? loose(mine, wire) : [];
        for (const from of ends) mine.add({ ...wire, from, type: 'main', output: 0 });
        if (ends.length === 0) mine.add(wire);
      }
      for (const wire of outs) {
        if (open.has(wire.to) || without.has(wire.to) || mine.heads(wire).length > 0) continue;
        mine.add(wire);
      }
    }
  }
}

/** The user's nodes behind an output from which nothing leads on. */
function loose(mine: Wiring, wire: Wire): string[] {
  const theirs = mine.beside(wire).flatMap(({ to }) => (mine.isTheirs(to) ? [...mine.theirs(to)] : []));
  return [...new Set(theirs)].filter((key) => mine.outOf(key).length === 0);
}

/** The nodes among `keys` in about the order in which the items pass them. */
function inOrder(base: readonly Wire[], keys: ReadonlySet<string>): string[] {
  const targets = new Set(base.map(({ to }) => to));
  const roots = base.map(({ from }) => from).filter((key) => !targets.has(key));
  const passed = reach(roots, (key) => base.filter(({ from }) => from === key).map(({ to }) => to));
  return [...new Set([...passed, ...keys])].filter((key) => keys.has(key));
}
