import type { Signed } from '../../../src/providers/sign.ts';
import type { Part } from './gate-schemes.ts';

/** Which bit of a part is changed; both numbers wrap around. */
export interface Change {
  part: number;
  at: number;
  bit: number;
}

/** A text with one bit of one character changed; NUL, which no text in Postgres holds, never comes of it. */
export function flip(text: string, { at, bit }: Change): string {
  if (text === '') return String.fromCharCode(65 + (bit % 26));
  const index = at % text.length;
  const code = text.charCodeAt(index);
  const changed = code ^ (1 << (bit % 7));
  const other = changed === 0 ? code ^ 3 : changed;
  return text.slice(0, index) + String.fromCharCode(other) + text.slice(index + 1);
}

/** A signed request with that bit of that part changed. */
export function changed(request: Signed, part: Part, change: Change): Signed {
  if (part === 'body') {
    const body = Buffer.from(request.body);
    const index = change.at % body.length;
    body[index] = (body[index] ?? 0) ^ (1 << (change.bit % 8));
    return { ...request, body };
  }
  if (typeof part === 'string') throw new Error(`${part} is no part of a request`);
  if ('header' in part)
    return { ...request, headers: { ...request.headers, ...over(request.headers, part.header, change) } };
  if ('query' in part)
    return { ...request, query: { ...request.query, ...over(request.query, part.query, change) } };
  if ('path' in part) return { ...request, body: Buffer.from(changeJson(request.body, part.path, change)) };
  const fields = [...new URLSearchParams(Buffer.from(request.body).toString())].map(([name, value]) => {
    if ('field' in part && part.field === name) return [name, flip(value, change)];
    return 'fieldName' in part && part.fieldName === name ? [flip(name, change), value] : [name, value];
  });
  return { ...request, body: Buffer.from(new URLSearchParams(fields as [string, string][]).toString()) };
}

function over(values: Record<string, string>, name: string, change: Change): Record<string, string> {
  return { [name]: flip(values[name] ?? '', change) };
}

function changeJson(body: Uint8Array, path: string[], change: Change): string {
  const root = JSON.parse(Buffer.from(body).toString());
  const parent = path.slice(0, -1).reduce((at, step) => at[step], root);
  const last = path.at(-1) ?? '';
  const old = parent[last];
  parent[last] =
    typeof old === 'string'
      ? flip(old, change)
      : typeof old === 'boolean'
        ? !old
        : old ^ (1 << (change.bit % 7));
  return JSON.stringify(root);
}
