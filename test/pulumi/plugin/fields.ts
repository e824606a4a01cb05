import { crc32 } from 'node:zlib';

/** A value as the engine sends it, secrets unwrapped. */
export type Value = string | number | boolean | null | undefined | Value[] | { [name: string]: Value };
export type Values = Record<string, Value>;

/** One property of a resource, as the real plugin's schema describes it. */
export interface Field {
  type: 'string' | 'number' | 'boolean' | 'list' | 'set';
  /** Filled in by the server where the program says nothing. */
  computed?: true;
  default?: string | number | boolean;
  /** A change replaces the resource. */
  forceNew?: true;
  secret?: true;
  /** What is wrong with a known value, if anything. */
  refuse?: (value: Value) => string | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** How the engine writes a value that is not known before `up`. */
export const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

export function isUnknown(value: Value): boolean {
  return value === UNKNOWN || (Array.isArray(value) && value.some(isUnknown));
}

/** What a field holds where neither the program nor the server said anything. */
export function zero(field: Field): Value {
  switch (field.type) {
    case 'string':
      return '';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return [];
  }
}

/** The order in which Terraform's SDK walks a set of strings: by the text of each one's CRC-32. */
export function setOrder(values: readonly string[]): string[] {
  const key = (value: string) => String(crc32(value));
  return [...new Set(values)].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(setOrder(a)) === JSON.stringify(setOrder(b));
}

function same(field: Field, a: Value, b: Value): boolean {
  const [left, right] = [a ?? zero(field), b ?? zero(field)];
  if (field.type === 'set') return sameSet(left as string[], right as string[]);
  return JSON.stringify(left) === JSON.stringify(right);
}

/** What the resource would hold: the program's values, else the defaults, else what the server last said. */
export function planned(fields: Fields, inputs: Values, state: Values | undefined): Values {
  const plan: Values = {};
  for (const [name, field] of Object.entries(fields)) {
    const fallback = field.computed ? (state ? state[name] : UNKNOWN) : null;
    plan[name] = inputs[name] ?? field.default ?? fallback;
  }
  return plan;
}

/**
 * What Terraform's SDK makes of the server's answer after a change: a set that the program gave counts as applied,
 * whatever the server has (a refresh shows it). An empty one is none in something new.
 */
export function applied(fields: Fields, plan: Values, state: Values, isNew: boolean): Values {
  const sets = Object.keys(fields).filter((name) => {
    const value = plan[name];
    return fields[name]?.type === 'set' && Array.isArray(value) && (value.length > 0 || !isNew);
  });
  return { ...state, ...Object.fromEntries(sets.map((name) => [name, plan[name]])) };
}

/** A state as the real plugin shows it: sets sorted, nothing in place of an empty list. */
export function shown(fields: Fields, id: string, state: Values): Values {
  const values = Object.entries(state).map(([name, value]) => {
    if (!Array.isArray(value)) return [name, value];
    if (value.length === 0) return [name, null];
    return [name, fields[name]?.type === 'set' ? [...value].sort() : value];
  });
  return { ...Object.fromEntries(values), id };
}

/** The fields in which the plan differs from the state. */
export function changed(fields: Fields, state: Values, plan: Values): string[] {
  return Object.entries(fields)
    .filter(([name, field]) => isUnknown(plan[name]) || !same(field, state[name], plan[name]))
    .map(([name]) => name);
}
