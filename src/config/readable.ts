import type { z } from 'zod';
import { isMapping, valueAt } from '../input/schema-walk.ts';
import { sourceSchema, word } from './schema.ts';

/** A source of a configuration that has issues, as far as it can be read. */
export interface ReadableSource {
  name: string;
  source: z.infer<typeof sourceSchema>;
  /** The settings that were left out, for they have an issue of their own. */
  doubtful: Set<string>;
}

/**
 * The sources of a raw configuration that can be checked against their providers all the same: those that pass
 * the schema once the settings with an issue are left out. A source without a readable provider or signature is
 * not among them, for everything else depends on these two.
 */
export function readableSources(value: unknown): ReadableSource[] {
  const sources = valueAt(value, ['sources']);
  if (!isMapping(sources)) return [];
  return Object.entries(sources).flatMap(([name, raw]) => {
    if (!isMapping(raw) || !word.safeParse(name).success) return [];
    const first = sourceSchema.safeParse(raw);
    if (first.success) return [{ name, source: first.data, doubtful: new Set<string>() }];
    const wrong = new Set(
      first.error.issues.flatMap((issue) =>
        issue.code === 'unrecognized_keys' ? issue.keys : issue.path.slice(0, 1).map(String),
      ),
    );
    if (wrong.has('signature')) return [];
    const second = sourceSchema.safeParse(
      Object.fromEntries(Object.entries(raw).filter(([key]) => !wrong.has(key))),
    );
    if (!second.success) return [];
    // An unknown setting may be any of those that are missing.
    const unknown = first.error.issues.some(({ code }) => code === 'unrecognized_keys');
    const missing = unknown ? Object.keys(sourceSchema.shape).filter((key) => !Object.hasOwn(raw, key)) : [];
    return [{ name, source: second.data, doubtful: new Set([...wrong, ...missing]) }];
  });
}
