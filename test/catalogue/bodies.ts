import { createHmac } from 'node:crypto';
import { splitPath } from '../../src/providers/signed.ts';
import { isForm } from '../../src/providers/signing/document.ts';
import type { Looked } from './recipes.ts';
import type { Request } from './requests.ts';

/** The body of a request as something to read and to change: JSON, or a form as pairs. */
type Read = { json: unknown } | { form: [name: string, value: string][] };

function read({ body, headers }: Request): Read {
  const text = Buffer.from(body).toString();
  if (isForm(headers['content-type'])) return { form: [...new URLSearchParams(text)] };
  return { json: JSON.parse(text) };
}

function write(content: Read): Uint8Array {
  if ('form' in content) return Buffer.from(new URLSearchParams(content.form).toString());
  return Buffer.from(JSON.stringify(content.json));
}

/** A single value of a body, by its path. */
export interface Leaf {
  path: string[];
  /** The request with another value there. */
  changed: Request;
}

/** Every single value of a request's body, each with a request in which it and nothing else is another one. */
export function leaves(request: Request): Leaf[] {
  const content = read(request);
  const paths = 'form' in content ? content.form.map(([name]) => [name]) : leafPaths(content.json);
  return paths.map((path) => ({ path, changed: { ...request, body: write(changeAt(read(request), path)) } }));
}

function leafPaths(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => leafPaths(inner, [...path, name]));
}

function changeAt(content: Read, path: string[]): Read {
  if ('form' in content) {
    for (const pair of content.form) if (pair[0] === path[0]) pair[1] = `${pair[1]}x`;
    return content;
  }
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], content.json);
  const last = path.at(-1) ?? '';
  (parent as Record<string, unknown>)[last] = another((parent as Record<string, unknown>)[last]);
  return content;
}

function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : `${value ?? ''}x`;
}

/** The value at a path of the body; of a form, the field of that name. */
export function bodyValue(request: Request, path: string[]): unknown {
  const content = read(request);
  if ('form' in content) return content.form.findLast(([name]) => name === path[0])?.[1];
  return path.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    content.json,
  );
}

/** What recipes look into in a request as it is sent. */
export function lookedInto(request: Request): Looked {
  const content = read(request);
  const body = 'form' in content ? Object.fromEntries(content.form) : (content.json as Looked['body']);
  return { body, headers: request.headers, query: request.query, bytes: request.body };
}

/** What an answer's text gives for a request: placeholders filled in, MACs under this secret, doubled braces single. */
export function filled(text: string, request: Request, secret = ''): string {
  return text.replace(
    /\{\{|\}\}|\{(body|header|query)\.([^{}|]+)(\|hmac-sha256)?\}/g,
    (token, from: 'body' | 'header' | 'query' | undefined, path: string, mac?: string) => {
      if (from === undefined) return token.slice(1);
      const steps = splitPath(path);
      const [name = ''] = steps;
      const value =
        from === 'body'
          ? String(bodyValue(request, steps) ?? '')
          : (request[from === 'header' ? 'headers' : 'query'][name] ?? '');
      return mac ? createHmac('sha256', secret).update(value).digest('hex') : value;
    },
  );
}
