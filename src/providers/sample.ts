import { createHash } from 'node:crypto';
import { Bug, UserError } from '../errors.ts';
import { oneOf } from '../input/schema-issues.ts';
import { parseRecipe, type RecipePart } from './recipe.ts';
import type { Provider, Sample } from './schema.ts';
import { isForm } from './signing/document.ts';

/** What a sample is made from. For a source with recipes of its own: `{ ...provider, key, type }`. */
export type SampleSource = Pick<Provider, 'samples' | 'content_type' | 'key'> & {
  type?: string | null | undefined;
  items?: Provider['items'];
  fetch?: Provider['fetch'];
};

/** A request without its signature. */
export interface FreshSample {
  /** The event type whose sample it is. */
  type: string;
  body: Uint8Array;
  /** Names in lower case; with the content type. */
  headers: Record<string, string>;
  query: Record<string, string>;
  /** The object that is fetched for it, where one is. */
  fetched?: Uint8Array;
}

/**
 * A provider's sample as a new event: the place that the key's recipe reads gets a value that holds the nonce. One
 * nonce gives one event, byte for byte. Of several events in one request each becomes a new one; where an object is
 * fetched, it is the object that changes. Without `type` the first sample is taken.
 * @throws UserError where the provider has no sample of that type.
 */
export function freshSample(source: SampleSource, type: string | undefined, nonce: string): FreshSample {
  const [chosen, sample] = pick(source.samples, type);
  const asked = draftOf(sample);
  // What names the event.
  const draft = source.fetch ? draftOf({ ...sample, body: sample.fetched ?? {} }) : asked;
  const key = alternativeFor(draft, source.key);
  const change = (part: RecipePart): void => {
    for (const [index, one] of (source.items ? ofEach(draft.body, part) : [part]).entries())
      freshen(draft, one, index === 0 ? nonce : `${nonce}-${index}`);
  };
  for (const part of freshParts(draft, key, source.type)) change(part);
  // A recipe of the source's own may read what the sample lacks; all of its parts must be there to give a key.
  for (const part of key) if (!present(draft, part)) change(part);
  return {
    type: chosen,
    ...request(source.fetch ? { ...draft, body: asked.body } : draft, sample, source.content_type),
    ...(source.fetch ? { fetched: encode(draft.body, 'application/json') } : {}),
  };
}

/** A sample as it stands in the file, such as a handshake's; `contentType` is the provider's. */
export function plainSample(sample: Sample, contentType: string): Omit<FreshSample, 'type'> {
  return request(draftOf(sample), sample, contentType);
}

function draftOf({ body, headers, query }: Pick<Sample, 'body' | 'headers' | 'query'>): Draft {
  return { body: structuredClone(body), headers: { ...headers }, query: { ...query } };
}

function request(
  { body, headers, query }: Draft,
  { content_type }: Sample,
  contentType: string,
): Omit<FreshSample, 'type'> {
  const type = content_type ?? contentType;
  return { body: encode(body, type), headers: { 'content-type': type, ...headers }, query };
}

/** A recipe says 0 where a list holds one event; here it holds all of them. */
function ofEach(body: unknown, part: RecipePart): RecipePart[] {
  if (part.kind !== 'body') return [part];
  let found: { at: unknown; path: string[] }[] = [{ at: body, path: [] }];
  for (const step of part.path)
    found = found.flatMap(({ at, path }) =>
      Array.isArray(at) && step === '0' && at.length > 0
        ? at.map((element, index) => ({ at: element, path: [...path, `${index}`] }))
        : [{ at: own(Object(at) as Record<string, unknown>, step), path: [...path, step] }],
    );
  return found.map(({ path }) => ({ kind: 'body', path }));
}

function pick(samples: Provider['samples'], type: string | undefined): [string, Sample] {
  const entries = Object.entries(samples);
  const found = type === undefined ? entries[0] : entries.find(([name]) => name === type);
  if (found) return found;
  throw new UserError({
    message: 'There is no sample of this event type.',
    ...oneOf(type, Object.keys(samples)),
  });
}

/** Of the key's placeholders the last one that is no part of the type, or else the last one. */
function freshParts(draft: Draft, key: RecipePart[], type: SampleSource['type']): RecipePart[] {
  const kept = (type ? alternativeFor(draft, type) : []).map((part) => JSON.stringify(part));
  const free = key.filter((part) => !kept.includes(JSON.stringify(part)));
  // One changed part makes a new key; changing more could break what the sample means.
  return (free.length > 0 ? free : key).slice(-1);
}

/** The placeholders of the alternative that the gate would take: the first one that the sample fills, or else the first. */
function alternativeFor(draft: Draft, text: string): RecipePart[] {
  const result = parseRecipe(text);
  if (!('recipe' in result)) throw new UserError(`The recipe is not valid: ${result.issues[0].message}.`);
  const all = result.recipe.map((parts) => parts.filter(({ kind }) => kind !== 'text'));
  return all.find((parts) => parts.every((part) => present(draft, part))) ?? all[0] ?? [];
}

interface Draft {
  body: Sample['body'];
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** Whether the place that a part reads holds anything. */
function present({ body, headers, query }: Draft, part: RecipePart): boolean {
  switch (part.kind) {
    case 'header':
      return headers[part.name] !== undefined;
    case 'query':
      return query[part.name] !== undefined;
    case 'body': {
      let current: unknown = body;
      for (const step of part.path) {
        if (typeof current !== 'object' || current === null) return false;
        current = own(current as Record<string, unknown>, step);
      }
      // Only texts and numbers are ids.
      return typeof current === 'number' || (typeof current === 'string' && current !== '');
    }
    default:
      return true;
  }
}

function freshen(draft: Draft, part: RecipePart, nonce: string): void {
  switch (part.kind) {
    case 'header':
      draft.headers[part.name] = freshValue(draft.headers[part.name], nonce) as string;
      return;
    case 'query':
      draft.query[part.name] = freshValue(draft.query[part.name], nonce) as string;
      return;
    case 'body':
      if (typeof draft.body === 'string') return;
      replaceAt(draft.body, part.path, nonce);
      return;
    case 'body_sha256':
      // The whole body is the key: any difference makes a new event.
      if (typeof draft.body === 'string') draft.body += nonce;
      else if (Array.isArray(draft.body)) draft.body.push(nonce);
      else draft.body['oncehook_nonce'] = nonce;
      return;
    case 'text':
      throw new Bug('Literal text of a recipe cannot be freshened.');
  }
}

function freshValue(old: unknown, nonce: string): unknown {
  if (typeof old === 'string' && old !== '') return `${old}_${nonce}`;
  if (typeof old !== 'number') return nonce;
  // 13 hexadecimal digits are below 2^53, so that the number survives every JSON parser.
  return Number.parseInt(createHash('sha256').update(nonce).digest('hex').slice(0, 13), 16);
}

function replaceAt(body: object, path: string[], nonce: string): void {
  let current = body as Record<string, unknown>;
  for (const step of path.slice(0, -1)) {
    const next = own(current, step);
    if (typeof next === 'object' && next !== null) current = next as Record<string, unknown>;
    else {
      const created: Record<string, unknown> = {};
      define(current, step, created);
      current = created;
    }
  }
  const last = path.at(-1) ?? '';
  define(current, last, freshValue(own(current, last), nonce));
}

function own(object: Record<string, unknown>, step: string): unknown {
  return Object.hasOwn(object, step) ? object[step] : undefined;
}

// A plain assignment to a step named __proto__ would change the prototype and leave the body as it was.
function define(object: Record<string, unknown>, step: string, value: unknown): void {
  Object.defineProperty(object, step, { value, enumerable: true, configurable: true, writable: true });
}

function encode(body: Sample['body'], contentType: string): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (!isForm(contentType)) return new TextEncoder().encode(JSON.stringify(body));
  const fields = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]);
  return new TextEncoder().encode(new URLSearchParams(fields).toString());
}
