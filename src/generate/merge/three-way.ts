import { canonical } from '../../workflow/serialise.ts';
import type { Json } from '../../workflow/types.ts';
import { type Leaves, leavesOf, putAt, valueAt, within } from './fields.ts';
import { fingerprint } from './fingerprint.ts';

/** Values that mean something together alone: a statement, and what its parameters are. */
const TOGETHER = [['parameters.query', 'parameters.options.queryReplacement']];

/** What is known of the last generation. */
export interface Before {
  /** The fingerprint of every leaf; undefined where nobody knows. */
  base: Record<string, string> | undefined;
  /** False where it may be another generation than the user's: what equals it is unchanged, and no more is known. */
  sure: boolean;
}

/** A value that differs on both sides, or whose history nobody knows. */
export interface Clash {
  path: string;
  mine: Json | undefined;
  ours: Json | undefined;
}

export interface ThreeWay {
  /** Ours, with what the user changed. */
  value: { [key: string]: Json };
  clashes: Clash[];
  /** The paths of what the user changed and keeps. */
  kept: string[];
}

/**
 * Joins what the user has with what the generator makes: a value that one side alone changed since the last
 * generation comes from that side. `base` may be of other names in expressions than `ours`; `mineThen` is the user's
 * node in the words of the last generation, `mine` in those of this one.
 *
 * A parameter that is missing is no change: n8n leaves out what equals its default. In a collection of options
 * (`parameters.options`) n8n does not, so there it is one.
 */
export function threeWay(
  { base, sure }: Before,
  mine: { [key: string]: Json },
  mineThen: { [key: string]: Json },
  ours: { [key: string]: Json },
): ThreeWay {
  const [then, now, made] = [leavesOf(mineThen), leavesOf(mine), leavesOf(ours)];
  const value = structuredClone(ours);
  const clashes: Clash[] = [];
  const kept: string[] = [];
  for (const group of groups(new Set([...now.keys(), ...made.keys(), ...Object.keys(base ?? {})]))) {
    const differing = group.filter(
      (unit) => text(now, unit) !== text(made, unit) && !leftOut(now, made, unit),
    );
    if (differing.length === 0) continue;
    if (base && group.every((unit) => leftOut(now, made, unit) || text(then, unit) === known(base, unit)))
      continue;
    const taken =
      base && sure
        ? group.every((unit) => text(made, unit) === known(base, unit))
        : differing.every((unit) => !unit.startsWith('parameters.') && text(made, unit) === '');
    for (const unit of differing) {
      if (taken) {
        putAt(value, unit, valueAt(mine, unit));
        kept.push(unit);
      } else {
        clashes.push({ path: unit, mine: valueAt(mine, unit), ours: valueAt(ours, unit) });
      }
    }
  }
  return { value, clashes, kept };
}

/** The paths that are merged as one: the outermost of all leaves, and those that belong together. */
function groups(paths: Set<string>): string[][] {
  const sorted = [...paths].sort();
  const units = sorted.filter((path) => !sorted.some((other) => other !== path && within(path, other)));
  const single = units.filter((unit) => !TOGETHER.some((group) => group.includes(unit)));
  const joined = TOGETHER.map((group) => units.filter((unit) => group.includes(unit)));
  return [...single.map((unit) => [unit]), ...joined.filter((group) => group.length > 0)];
}

function leftOut(now: Leaves, made: Leaves, unit: string): boolean {
  return (
    unit.startsWith('parameters.') &&
    !/^parameters\.(.*\.)?options[.[]/.test(unit) &&
    text(now, unit) === '' &&
    text(made, unit) !== ''
  );
}

/** What stands at and below a path, as one text; empty for nothing. */
function text(leaves: Leaves, unit: string): string {
  const paths = [...leaves.keys()].filter((path) => within(path, unit));
  return joinedText(paths.map((path) => [path, print(leaves, path)]));
}

function known(base: Record<string, string>, unit: string): string {
  return joinedText(Object.entries(base).filter(([path]) => within(path, unit)));
}

function joinedText(entries: [path: string, print: string][]): string {
  return entries
    .map(([path, print]) => `${path}=${print}`)
    .sort()
    .join('\n');
}

/** A value is looked at many times: its fingerprint is made once. */
const prints = new WeakMap<Leaves, Map<string, string>>();

function print(leaves: Leaves, path: string): string {
  const made = prints.get(leaves) ?? new Map<string, string>();
  prints.set(leaves, made);
  const found = made.get(path) ?? fingerprint(canonical(leaves.get(path) ?? null));
  made.set(path, found);
  return found;
}
