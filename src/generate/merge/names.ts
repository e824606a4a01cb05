import type { Json } from '../../workflow/types.ts';

/** From one name of a node to another. */
export type Renames = ReadonlyMap<string, string>;

/** A quoted text of an expression where a node is asked by its name, or compared with one. */
const NAMED = /((?:\$|\$items)\(\s*|\$node\[\s*|[=!]==?\s*)('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")/g;
/** The same, without comparisons: in the user's own texts an equal word may be anything. */
const ASKED = /((?:\$|\$items)\(\s*|\$node\[\s*)('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")/g;

/** A value of one of our nodes with other names of nodes in its expressions. */
export function renameInOurs<T extends Json>(value: T, renames: Renames): T {
  return renames.size === 0 ? value : (replace(value, renames, NAMED, true) as T);
}

/** A value of a user's node, expression or code, with other names where it asks for nodes. */
export function renameInTheirs<T extends Json>(value: T, renames: Renames): T {
  return renames.size === 0 ? value : (replace(value, renames, ASKED, false) as T);
}

function replace(value: Json, renames: Renames, pattern: RegExp, expressionsOnly: boolean): Json {
  if (typeof value === 'string') {
    if (expressionsOnly && !value.startsWith('=')) return value;
    return value.replace(pattern, (whole, before: string, quoted: string) => {
      const name = renames.get(quoted.slice(1, -1).replace(/\\(.)/gs, '$1'));
      return name === undefined ? whole : `${before}${quote(name, quoted.charAt(0))}`;
    });
  }
  if (Array.isArray(value)) return value.map((inner) => replace(inner, renames, pattern, expressionsOnly));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, replace(inner, renames, pattern, expressionsOnly)]),
  );
}

function quote(name: string, mark: string): string {
  return `${mark}${name.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`)}${mark}`;
}

/** The name, or with the first number behind it that makes it a free one. Takes it. */
export function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 1; taken.has(free); number += 1) free = `${name}${number}`;
  taken.add(free);
  return free;
}
