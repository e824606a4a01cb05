import type { SignedPart, SignedValue } from './compiled.ts';

/**
 * The text that a signature covers, as a template: literal text and placeholders in braces; a brace that is itself
 * signed is written twice. Compiled to a list of parts, so that Postgres needs no parser.
 */

const placeholder =
  /^\{(body|header|query|item|timestamp|secret|url|setting|fields|form)((?:\.(?:[^\s."{}|?]+|"[^"{}]+"))*)(\?)?(?:\|(json|lower|sha256|crc32|sorted-json))?\}$/;

const known =
  '{body}, {timestamp}, {header.name}, {query.name}, {body.path}, {item.path}, {fields}, {form|sorted-json}, {url}, {setting.name} and {secret}';

/** How many steps a placeholder takes after its name. */
const steps: Record<string, [least: number, most: number]> = {
  header: [1, 1],
  query: [1, 1],
  setting: [1, 1],
  item: [1, 20],
  body: [0, 20],
};

/** The parts of a template, or why it is none. */
export function compileSigned(
  template: string,
): { parts: SignedPart[]; issue?: never } | { parts?: never; issue: string } {
  const tokens = template.match(/\{\{|\}\}|\{[^{}]*\}|[^{}]+/g) ?? [];
  if (tokens.join('') !== template || tokens.length === 0)
    return { issue: 'a template such as {timestamp}.{body}, in which a lone brace is written twice' };
  const parts: SignedPart[] = [];
  for (const token of tokens) {
    const part = token === '{{' ? '{' : token === '}}' ? '}' : readPart(token);
    if (part === undefined) return { issue: `no other placeholder than ${known}` };
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else parts.push(part);
  }
  const wholes = parts.filter(isBody).length;
  return wholes > 1 ? { issue: '{body} at most once' } : { parts };
}

/** The steps of a path such as `data."a.b".0`. */
export function splitPath(path: string): string[] {
  return [...path.matchAll(/"([^"{}]+)"|([^\s."{}]+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

/** Whether a part is the whole body: as it is, hashed, or its checksum. */
export function isBody(part: SignedPart): boolean {
  return typeof part !== 'string' && part.from === 'body' && part.path === undefined;
}

/** The values that a template takes from one place. */
export function partsFrom(parts: readonly SignedPart[], from: SignedValue['from']): SignedValue[] {
  return parts.filter((part): part is SignedValue => typeof part !== 'string' && part.from === from);
}

/** Hashes and checksums are taken of the whole body, words of single values; a form has its one way. */
function writable(from: string, lone: boolean, as: string | undefined): boolean {
  if (from === 'form' || as === 'sorted-json') return from === 'form' && as === 'sorted-json';
  if (as === undefined) return true;
  if (from === 'setting') return false;
  if (as === 'sha256' || as === 'crc32') return from === 'body' && lone;
  return !lone || (from === 'secret' && as === 'json');
}

function readPart(token: string): SignedPart | undefined {
  if (!token.startsWith('{')) return token;
  const [, from, path = '', optional, as] = placeholder.exec(token) ?? [];
  if (from === undefined) return undefined;
  const found = splitPath(path);
  const [least, most] = steps[from] ?? [0, 0];
  if (found.length < least || found.length > most) return undefined;
  const lone = found.length === 0;
  // Only what a request may lack can be optional.
  if (optional && (lone || from === 'setting')) return undefined;
  if (!writable(from, lone, as)) return undefined;
  return {
    from: from as SignedValue['from'],
    ...(lone ? {} : { path: from === 'header' ? found.map((name) => name.toLowerCase()) : found }),
    ...(optional ? { optional: true } : {}),
    ...(as === undefined ? {} : { as: as as NonNullable<SignedValue['as']> }),
  };
}
