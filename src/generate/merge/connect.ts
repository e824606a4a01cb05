import type { Gate } from './gate.ts';
import { Wiring } from './graph.ts';
import { type EmptyPlace, emptyPlaces, fillPlace } from './places.ts';
import { restore } from './restore.ts';
import type { Conflict } from './types.ts';
import { type Wire, wireText } from './wires.ts';

export interface ConnectInput {
  /** The wires of the last generation; those of this one where nobody knows. */
  base: readonly Wire[];
  mine: readonly Wire[];
  ours: readonly Wire[];
  /** The keys of our nodes that are in the user's workflow, with those that the generator stopped making. */
  present: ReadonlySet<string>;
  /** The keys of all nodes that the generator makes. */
  made: ReadonlySet<string>;
  gate: Gate;
  /** Take ours where there is a conflict. */
  force: boolean;
  /** A node's name, for people. */
  nameOf(key: string): string;
}

export interface Connected {
  wires: Wire[];
  /** Places of the user's that they removed and that stay away. */
  away: Set<string>;
  conflicts: Conflict[];
  /** The user's wires between our nodes, and ours that they cut: kept. */
  kept: string[];
  warnings: string[];
}

/**
 * Joins the user's wires with ours. All wires of their nodes stay. Where a node of theirs stands on one of our wires,
 * it stays there, below the gate; in the gate it is a conflict. Our nodes that were removed come back with their
 * wires, but not a place for the user's nodes that something of theirs has taken.
 */
export function connect(input: ConnectInput): Connected {
  const { base, ours, present, made, gate } = input;
  const known = new Set([...made, ...present, ...base.flatMap(({ from, to }) => [from, to])]);
  const mine = new Wiring(input.mine, (key) => !known.has(key));
  const lasting = new Set(base.flatMap(({ from, to }) => [from, to]).filter((key) => made.has(key)));
  const missing = [...lasting].filter((key) => !present.has(key));
  const restored = new Set(missing.filter((key) => !gate.places.has(key)));
  const missingPlaces = new Set(missing.filter((key) => gate.places.has(key)));
  const mayWait = ({ from, to }: Wire) => !gate.holds(from, to);
  restore(mine, base, restored, missingPlaces, mayWait);
  const empty = emptyPlaces(mine, base, missingPlaces);
  const away = new Set(empty.map(({ key }) => key));
  const back = new Set([...missingPlaces].filter((key) => !away.has(key)));
  restore(mine, base, back, away, mayWait);
  for (const place of empty) fillPlace(mine, place, ours, restored);
  const join = new Join(input, mine, empty);
  join.moveSplices();
  join.checkGate();
  return { ...join.result(), away };
}

/** The steps of one join; each adds to the conflicts. */
class Join {
  readonly #input: ConnectInput;
  readonly #mine: Wiring;
  /** Ours without the places that stay away. */
  readonly #ours: Wiring;
  readonly #base: Wiring;
  readonly #conflicts: Conflict[] = [];
  readonly #kept: string[] = [];
  readonly #warnings: string[] = [];

  constructor(input: ConnectInput, mine: Wiring, empty: EmptyPlace[]) {
    const away = new Set(empty.map(({ key }) => key));
    const stays = ({ from, to }: Wire) => !away.has(from) && !away.has(to);
    this.#input = input;
    this.#mine = mine;
    this.#ours = new Wiring(input.ours.filter(stays), mine.isTheirs);
    this.#base = new Wiring(input.base.filter(stays), mine.isTheirs);
  }

  /** Nodes of the user's on a wire that the generator no longer makes go to the wire that came in its place. */
  moveSplices(): void {
    const { made, gate } = this.#input;
    for (const wire of this.#base.all) {
      const [heads, tails] = [this.#mine.heads(wire), this.#mine.tails(wire)];
      if (this.#ours.has(wire) || heads.length === 0) continue;
      const behind = this.#ours.beside(wire);
      const before = this.#ours.into(wire.to);
      if (made.has(wire.from) && (gate.places.has(wire.from) || !made.has(wire.to)) && behind.length > 0) {
        for (const tail of tails) {
          this.#mine.remove(tail);
          for (const { to, toType, input } of behind) this.#mine.add({ ...tail, to, toType, input });
        }
      } else if (made.has(wire.to) && before.length > 0) {
        for (const head of heads) {
          this.#mine.remove(head);
          for (const { from, type, output } of before) this.#mine.add({ ...head, from, type, output });
        }
      }
    }
    for (const wire of this.#mine.all) {
      const ends = [wire.from, wire.to];
      const gone = ends.find((key) => !made.has(key) && !this.#mine.isTheirs(key));
      if (gone === undefined || !ends.some(this.#mine.isTheirs)) continue;
      this.#conflict(wire, 'your wire', 'no wire', 'the generator no longer makes one of its nodes');
      this.#mine.remove(wire);
    }
  }

  /** Nothing of the user's stands between the request and its answer. */
  checkGate(): void {
    const { gate, made, force } = this.#input;
    for (const head of this.#mine.all) {
      if (!made.has(head.from) || !this.#mine.isTheirs(head.to)) continue;
      const returns = this.#mine.returns(head.to).filter(({ to }) => gate.holds(head.from, to));
      for (const tail of returns) {
        this.#conflict(
          { ...tail, from: head.from },
          `goes through "${this.#input.nameOf(head.to)}"`,
          'straight',
          'nothing may stand in the gate',
        );
        if (force) this.#mine.remove(tail);
      }
      if (returns.length > 0 && force) this.#mine.remove(head);
      const toPlace = this.#input.ours.some(
        (wire) => wire.from === head.from && wire.output === head.output && gate.places.has(wire.to),
      );
      if (returns.length === 0 && gate.unanswered(head.from) && !toPlace) {
        this.#warnings.push(
          `"${this.#input.nameOf(head.to)}" runs beside "${this.#input.nameOf(head.from)}", before the sender has its answer: where it fails, the sender gets 500 and tries again.`,
        );
      }
    }
  }

  result(): Omit<Connected, 'away'> {
    const { gate, force, nameOf } = this.#input;
    const wires = new Map<string, Wire>();
    const put = (wire: Wire) => wires.set(wireText(wire), wire);
    for (const wire of this.#ours.all) {
      const heads = this.#mine.heads(wire);
      const guarded = gate.holds(wire.from, wire.to);
      if (this.#mine.has(wire) || guarded) {
        // A splice in the gate has been told above.
        const cut = !this.#mine.has(wire) && this.#base.has(wire) && heads.length === 0;
        if (cut && !this.#toldOf(wire)) {
          this.#conflict(wire, 'no wire', 'a wire', 'the gate is not whole without it');
        }
        put(wire);
      } else if (heads.length === 0 && !this.#base.has(wire)) {
        put(wire);
      } else if (heads.length === 0) {
        this.#kept.push(`no wire from "${nameOf(wire.from)}" to "${nameOf(wire.to)}"`);
      }
    }
    for (const wire of this.#mine.all) {
      const theirs = this.#mine.isTheirs(wire.from) || this.#mine.isTheirs(wire.to);
      if (wires.has(wireText(wire)) || (!theirs && this.#base.has(wire))) continue;
      if (!theirs && gate.holds(wire.from, wire.to)) {
        this.#conflict(wire, 'a wire', 'no wire', 'the gate has no such way');
        if (force) continue;
      }
      if (!theirs) this.#kept.push(`the wire from "${nameOf(wire.from)}" to "${nameOf(wire.to)}"`);
      put(wire);
    }
    return {
      wires: [...wires.values()],
      conflicts: this.#conflicts,
      kept: this.#kept,
      warnings: this.#warnings,
    };
  }

  #toldOf({ from, to }: Wire): boolean {
    const parameter = this.#wireInWords(to);
    return this.#conflicts.some(
      (one) => one.node === this.#input.nameOf(from) && one.parameter === parameter,
    );
  }

  #conflict({ from, to }: Wire, yours: string, generated: string, reason: string): void {
    const { nameOf } = this.#input;
    const conflict = { node: nameOf(from), parameter: this.#wireInWords(to), yours, generated, reason };
    if (!this.#toldOf({ from, to } as Wire)) this.#conflicts.push(conflict);
  }

  #wireInWords(to: string): string {
    return `the wire to "${this.#input.nameOf(to)}"`;
  }
}
