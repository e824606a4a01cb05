import { z } from 'zod';

/**
 * Where a request holds several events: `body.*` for a body that is a list, `body.events.*`,
 * `body.entry.*.changes.*.value.messages.*`. Each event is keyed, stored and worked on with a body of its own: the
 * request's, in which every list on the way holds that one element, so its recipes say `{body.events.0.id}`.
 */
const itemsPath = z
  .string()
  .regex(/^body(\.([^\s."{}*]+|"[^"{}]+"|\*))*\.\*$/, 'a path whose last step is *, such as body.events.*');

/** One such path, or several of which an earlier one counts before a later one that would hold its elements. */
export const itemsSchema = z
  .union([itemsPath, z.array(itemsPath).min(1).max(8)], 'a path such as body.events.*, or a list of them')
  .refine((paths) => {
    const all = [paths].flat();
    return !all.some((path, index) => all.slice(0, index).some((one) => `${path}.`.startsWith(`${one}.`)));
  }, 'a path that lies within no earlier one: such elements would be events twice')
  .describe(
    'Where a request holds several events, each with a key of its own. Of several paths, an element of a later one is an event only where it holds none of an earlier one.',
  );
