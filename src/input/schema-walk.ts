import type { z } from 'zod';
import type { Path } from './yaml-locate.ts';

export type Schema = z.core.$ZodType;

/** The values by which a union at a path tells its options apart; the path ends in the key that holds them. */
export function choicesAt(schema: Schema, path: Path, value: unknown): unknown[] {
  const union = descend(schema, path.slice(0, -1), value);
  return optionsOf(union).flatMap((option) => literalsAt(option, String(path.at(-1))));
}

/** The value at a path; undefined where there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<PropertyKey, unknown>)[step];
  }
  return current;
}

/** The keys that a mapping at a path may have. */
export function keysAt(schema: Schema, path: Path, value: unknown): string[] {
  const found = descend(schema, path, value);
  const def = found?._zod.def as z.core.$ZodObjectDef | undefined;
  return def?.type === 'object' ? Object.keys(def.shape) : [];
}

/** The schema that stands at a path of a value; a union is followed into the option that the value names. */
function descend(schema: Schema, path: Path, value: unknown): Schema | undefined {
  let current: Schema | undefined = schema;
  const walked: PropertyKey[] = [];
  for (const step of path) {
    const def = inner(current, valueAt(value, walked))?._zod.def as Record<string, unknown> | undefined;
    walked.push(step);
    if (def?.['type'] === 'object') current = (def['shape'] as Record<PropertyKey, Schema>)[step];
    else if (def?.['type'] === 'record') current = def['valueType'] as Schema;
    else if (def?.['type'] === 'array') current = def['element'] as Schema;
    else return undefined;
  }
  // A union at the end stays one where the value names no option of it.
  return inner(current, valueAt(value, walked)) ?? current;
}

function inner(schema: Schema | undefined, value: unknown): Schema | undefined {
  const def = schema?._zod.def as Record<string, unknown> | undefined;
  if (!def) return undefined;
  if (def['innerType']) return inner(def['innerType'] as Schema, value);
  if (def['type'] === 'pipe') return inner(def['in'] as Schema, value);
  if (def['type'] !== 'union') return schema;
  const key = def['discriminator'] as string | undefined;
  const wanted = key === undefined ? undefined : valueAt(value, [key]);
  return optionsOf(schema).find((option) => key !== undefined && literalsAt(option, key).includes(wanted));
}

function optionsOf(schema: Schema | undefined): Schema[] {
  return (
    ((schema?._zod.def as Record<string, unknown> | undefined)?.['options'] as Schema[] | undefined) ?? []
  );
}

function literalsAt(option: Schema, key: string): unknown[] {
  const shape = (option._zod.def as Partial<z.core.$ZodObjectDef>).shape;
  return [...(shape?.[key]?._zod.values ?? [])];
}

/** True for what YAML calls a mapping. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
