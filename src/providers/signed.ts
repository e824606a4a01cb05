/**
 * The text that a signature covers, as a template: literal text, `{timestamp}`, `{header.x-id}` and exactly one
 * `{body}`. Compiled to a list of parts, in which what starts with a brace is a placeholder, so that Postgres
 * needs no parser.
 */

/** e.g. `["{timestamp}", ".", "{body}"]` */
export type SignedParts = string[];

/** The parts of a template, or why it is none. */
export function compileSigned(
  template: string,
): { parts: SignedParts; issue?: never } | { parts?: never; issue: string } {
  const parts = template.match(/\{[^{}]*\}|[^{}]+/g) ?? [];
  if (parts.join('') !== template)
    return { issue: 'a template without a lone brace, such as {timestamp}.{body}' };
  const unknown = parts.filter((part) => part.startsWith('{') && !isPlaceholder(part));
  if (unknown.length > 0) return { issue: 'no other placeholder than {timestamp}, {body} and {header.name}' };
  if (parts.filter((part) => part === '{body}').length !== 1) return { issue: 'exactly one {body}' };
  return { parts };
}

/** The header names, in lower case, that a template takes in. */
export function signedHeaders(parts: SignedParts): string[] {
  return parts.flatMap((part) => /^\{header\.(.+)\}$/.exec(part)?.[1] ?? []);
}

function isPlaceholder(part: string): boolean {
  return part === '{timestamp}' || part === '{body}' || /^\{header\.[a-z0-9-]+\}$/.test(part);
}
