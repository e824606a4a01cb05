import type { ResolvedSource } from '../../src/generate/resolve.ts';

/** Whether a place such as `items.*.reason`, in steps, is a path or holds it; `*` is any element of a list. */
export function holds(steps: readonly string[], path: readonly string[]): boolean {
  return steps.length > 0 && steps.every((step, index) => step === '*' || step === path[index]);
}

/** Where a request carries its signature, token and time themselves. */
export function ownPlaces({ signature }: Pick<ResolvedSource, 'signature'>): {
  headers: string[];
  query: string[];
  /** Whether a path of the body is such a place. */
  body(path: readonly string[]): boolean;
} {
  const own = { header: '', query: '', body: [], item: [], each: [], more_headers: [], ...signature };
  const time = { header: '', query: '', body: [], ...('timestamp' in signature ? signature.timestamp : {}) };
  const item = own.each.length > 0 ? [...own.each, '*', ...own.item] : [];
  return {
    headers: [own.header, time.header, 'authorization', 'content-type', ...own.more_headers],
    query: [own.query, time.query],
    body: (path) => [own.body, time.body, item].some((steps) => holds(steps, path)),
  };
}
