import { type Wire, wireText } from './wires.ts';

/** Wires that can be changed and asked for ways. Keeps their order. */
export class Wiring {
  readonly #wires = new Map<string, Wire>();
  /** True for a node of the user's. */
  readonly isTheirs: (key: string) => boolean;

  constructor(wires: readonly Wire[], isTheirs: (key: string) => boolean) {
    this.isTheirs = isTheirs;
    for (const wire of wires) this.add(wire);
  }

  get all(): Wire[] {
    return [...this.#wires.values()];
  }

  has(wire: Wire): boolean {
    return this.#wires.has(wireText(wire));
  }

  add(wire: Wire): void {
    this.#wires.set(wireText(wire), wire);
  }

  remove(wire: Wire): void {
    this.#wires.delete(wireText(wire));
  }

  /** The wires that leave the same output as `wire`. */
  beside(wire: Pick<Wire, 'from' | 'type' | 'output'>): Wire[] {
    return this.all.filter((one) => sameOutput(one, wire));
  }

  into(key: string): Wire[] {
    return this.all.filter(({ to, toType }) => to === key && toType === 'main');
  }

  outOf(key: string): Wire[] {
    return this.all.filter(({ from, type }) => from === key && type === 'main');
  }

  /** A node of the user's, and those of theirs that its items reach without passing one of ours. */
  theirs(start: string): Set<string> {
    return reach([start], (key) =>
      this.outOf(key)
        .map(({ to }) => to)
        .filter(this.isTheirs),
    );
  }

  /** The wires by which the items of a user's node come back to ours. */
  returns(start: string): Wire[] {
    const theirs = this.theirs(start);
    return this.all.filter(({ from, type, to }) => theirs.has(from) && type === 'main' && !this.isTheirs(to));
  }

  /** The wires from the output of `wire` to nodes of the user's that lead to its target. */
  heads(wire: Wire): Wire[] {
    return this.beside(wire).filter(
      ({ to }) => this.isTheirs(to) && this.returns(to).some((back) => back.to === wire.to),
    );
  }

  /** The wires into the target of `wire` from nodes of the user's that its output leads to. */
  tails(wire: Wire): Wire[] {
    const back = this.heads(wire).flatMap(({ to }) => this.returns(to));
    return [...new Set(back)].filter(({ to }) => to === wire.to);
  }
}

/** True where two wires leave by one output. */
export function sameOutput(
  a: Pick<Wire, 'from' | 'type' | 'output'>,
  b: Pick<Wire, 'from' | 'type' | 'output'>,
): boolean {
  return a.from === b.from && a.type === b.type && a.output === b.output;
}

/** The starts and everything that `next` leads to from there. */
export function reach(starts: Iterable<string>, next: (key: string) => Iterable<string>): Set<string> {
  const seen = new Set(starts);
  for (const key of seen) {
    for (const one of next(key)) seen.add(one);
  }
  return seen;
}
