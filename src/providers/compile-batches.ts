import { Bug } from '../errors.ts';
import type { Provider } from './schema.ts';
import { splitPath } from './signed.ts';

/** The steps of a path to a request's events; null stands for the elements of a list. */
export type ItemPath = (string | null)[];

/** What the ledger must know to build no address but that of an object: the values' recipes, and what they may be. */
export interface FetchRule {
  values: string[];
  /** A regular expression for the whole of each. */
  ids: string;
}

/** What one request of a source brings: one event, several, or the news that an object changed. */
export type Shape = 'event' | 'items' | 'fetch';

/** The rules `items` and `fetch` of a source; empty where one request is one event. */
export function compileBatches(provider: Pick<Provider, 'items' | 'fetch'>): {
  items?: ItemPath[];
  fetch?: FetchRule;
} {
  const { items, fetch } = provider;
  return {
    ...(items === undefined ? {} : { items: [items].flat().map(itemPath) }),
    ...(fetch === undefined ? {} : { fetch: { values: fetchParts(fetch.url).values, ids: fetch.ids } }),
  };
}

export function shapeOf(rules: { items?: unknown; fetch?: unknown } | null): Shape {
  if (rules?.items !== undefined) return 'items';
  return rules?.fetch === undefined ? 'event' : 'fetch';
}

/** `body.a."b.c".*` as `["a", "b.c", null]`. */
function itemPath(path: string): ItemPath {
  return [...path.matchAll(/\.(?:"([^"]+)"|([^\s."{}]+))/g)].map(([, quoted, bare]) =>
    bare === '*' ? null : (quoted ?? bare ?? ''),
  );
}

/** Literal text of an address, or the number of a value in `values`. */
export type AddressPart = string | { value: number };

/**
 * An address in parts, with the recipes of its values. `{setting.name}` becomes the text of that setting.
 * @throws Bug for an address that the schema lets through and that has other placeholders, or a setting without value.
 */
export function fetchParts(
  url: string,
  settings: Readonly<Record<string, string>> | null = null,
): { parts: AddressPart[]; values: string[] } {
  const parts: AddressPart[] = [];
  const values: string[] = [];
  for (const token of url.match(/\{[^{}]*\}|[^{}]+/g) ?? []) {
    if (!token.startsWith('{')) {
      parts.push(token);
    } else if (token.startsWith('{setting.')) {
      const [, name = ''] = splitPath(token.slice(1, -1));
      const text = settings === null ? '' : settings[name];
      if (text === undefined)
        throw new Bug(`The address ${url} needs the setting ${name}, which has no value.`);
      parts.push(encodeURIComponent(text));
    } else {
      if (!values.includes(token)) values.push(token);
      parts.push({ value: values.indexOf(token) });
    }
  }
  return { parts, values };
}
