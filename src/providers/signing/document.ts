import { UserError } from '../../errors.ts';

/** A body as something that values are read from and put into; numbers keep their digits. */
export type Document = { kind: 'json'; root: unknown } | { kind: 'form'; fields: [string, string][] };

// Node has these since 21; the types of the language lag behind.
const json = JSON as typeof JSON & { rawJSON(text: string): unknown; isRawJSON(value: unknown): boolean };

/**
 * A body as Postgres reads it: JSON, or a form where the content type says so.
 * @throws UserError where it is neither.
 */
export function readDocument(body: Uint8Array, contentType: string | undefined): Document {
  const text = Buffer.from(body).toString('utf8');
  try {
    return { kind: 'json', root: JSON.parse(text, keepNumber) };
  } catch {
    if (isForm(contentType)) return { kind: 'form', fields: [...new URLSearchParams(text)] };
    throw new UserError({
      message: 'The signature is made of values of the body, which is neither JSON nor a form.',
      remedy: 'Give it a JSON body, or the content type application/x-www-form-urlencoded.',
    });
  }
}

/** Whether a content type is a form's; a multipart form is worked on as the other kind, and sent as what it is. */
export function isForm(contentType: string | undefined): boolean {
  return /^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(contentType ?? '');
}

function keepNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? json.rawJSON(context.source) : value;
}

/** The bytes of a body that was read. */
export function writeDocument(document: Document): Uint8Array {
  const text =
    document.kind === 'json'
      ? JSON.stringify(document.root)
      : new URLSearchParams(document.fields).toString();
  return new TextEncoder().encode(text);
}

/** What stands at a path; undefined where nothing does. Of equal names in a form the last one counts. */
export function valueAt(document: Document, path: readonly string[]): unknown {
  if (document.kind === 'json') return within(document.root, path);
  const [name, ...more] = path;
  return more.length > 0 ? undefined : document.fields.findLast(([key]) => key === name)?.[1];
}

/** What stands at a path below a JSON value. */
export function within(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, step)
        ? (at as Record<string, unknown>)[step]
        : undefined,
    root,
  );
}

/** Puts a text at a path, in the place of what is there. @throws UserError where the body has no such place. */
export function putAt(document: Document, path: readonly string[], text: string): void {
  if (document.kind === 'json') {
    putWithin(document.root, path, text);
    return;
  }
  const [name = ''] = path;
  const at = document.fields.findIndex(([key]) => key === name);
  document.fields = document.fields.filter(([key], index) => key !== name || index === at);
  if (at === -1) document.fields.push([name, text]);
  else document.fields[at] = [name, text];
}

/** `putAt` below a JSON value; missing objects on the way are made. A number is replaced by a number. */
export function putWithin(root: unknown, path: readonly string[], text: string): void {
  let current = root;
  for (const [index, step] of path.entries()) {
    if (typeof current !== 'object' || current === null)
      throw new UserError({
        message: `The body has no object in which ${path.join('.')} could stand.`,
        remedy: 'Choose another body.',
      });
    const last = index === path.length - 1;
    const old = within(current, [step]);
    const value = last ? (json.isRawJSON(old) ? json.rawJSON(text) : text) : (old ?? {});
    // A plain assignment to a step named __proto__ would change the prototype and leave the body as it was.
    Object.defineProperty(current, step, { value, enumerable: true, configurable: true, writable: true });
    current = value;
  }
}

/** The text of a single value: a text, a number's digits, true or false; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || json.isRawJSON(value) ? JSON.stringify(value) : undefined;
}
