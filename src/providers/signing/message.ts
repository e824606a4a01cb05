import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Bug, UserError } from '../../errors.ts';
import type { CompiledFields, CompiledParts, SignedPart, SignedValue } from '../compiled.ts';
import { type Document, textOf, valueAt, within } from './document.ts';
import { sortedJson } from './nested.ts';

/** What a template's placeholders take their values from. */
export interface Material {
  body: Uint8Array;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The time as it is written; empty where none is. */
  time: string;
  secret: Uint8Array;
  /** The body read; a scheme without values of it never asks. */
  document(): Document;
  /** The element that is signed by itself. */
  item?: unknown;
}

/**
 * What is signed: the first alternative whose placeholders all find something.
 * @throws UserError naming what the first one lacks, where none is complete.
 */
export function messageOf(
  { signed, fields }: Pick<CompiledParts, 'signed' | 'fields'>,
  material: Material,
): Buffer {
  let lacking: string | undefined;
  for (const parts of signed) {
    const pieces: Uint8Array[] = [];
    const missing = parts.find((part) => {
      const piece = pieceOf(part, fields, material);
      if (piece !== undefined) pieces.push(piece);
      return piece === undefined;
    });
    if (missing === undefined) return Buffer.concat(pieces);
    lacking ??= nameOf(missing);
  }
  throw new UserError({
    message: `The signature covers ${lacking}, which the request does not have.`,
    remedy: `Give the request ${lacking}.`,
  });
}

function pieceOf(
  part: SignedPart,
  rule: CompiledFields | undefined,
  material: Material,
): Uint8Array | undefined {
  if (typeof part === 'string') return Buffer.from(part);
  if (part.from === 'body' && part.path === undefined) return wholeBody(part, material);
  if (part.from === 'secret' && part.as === undefined) return material.secret;
  if (part.from === 'fields') {
    if (!rule) throw new Bug('A template with fields has no rule for them.');
    return Buffer.from(fieldsText(rule, material));
  }
  if (part.from === 'form') return Buffer.from(sortedJson(material.document()));
  const value = find(part, material);
  const text = textOf(value);
  if (text === undefined) return part.optional ? Buffer.alloc(0) : undefined;
  if (part.as === 'json') return Buffer.from(JSON.stringify(value));
  // Postgres changes ASCII letters alone here.
  return Buffer.from(part.as === 'lower' ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text);
}

function wholeBody({ as }: SignedValue, { body }: Material): Uint8Array {
  if (as === 'crc32') return Buffer.from(`${crc32(body)}`);
  return as === 'sha256' ? Buffer.from(createHash('sha256').update(body).digest('hex')) : body;
}

function find({ from, path = [] }: SignedValue, material: Material): unknown {
  const [name = ''] = path;
  switch (from) {
    case 'timestamp':
      return material.time;
    case 'secret':
      return Buffer.from(material.secret).toString();
    case 'header':
      return material.headers[name];
    case 'query':
      return material.query[name];
    case 'item':
      return within(material.item, path);
    case 'body':
      return valueAt(material.document(), path);
    case 'setting':
      throw new UserError({
        message: `The signature covers the setting ${name}, which is not known.`,
        remedy: `Set it for this source under settings.`,
      });
    default:
      throw new UserError({
        message: 'The signature covers the address that is called, which is not known.',
        remedy: 'Set public_url for this source.',
      });
  }
}

/** The fields in the order of their names' bytes, then of their values'; what is there twice counts once. */
function fieldsText(rule: CompiledFields, { document, secret }: Material): string {
  const found: [string, string][] = candidates(rule, document()).filter(
    ([name]) => name.startsWith(rule.begin) && !rule.except.includes(name),
  );
  if (rule.secret_as !== undefined) found.push([rule.secret_as, Buffer.from(secret).toString()]);
  const once = new Map(found.map((pair) => [JSON.stringify(pair), pair]));
  return [...once.values()]
    .sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]))
    .map(([name, value]) => {
      const named = rule.middle === null ? '' : name + rule.middle;
      return `${rule.before}${named}${value}${rule.after}`;
    })
    .join(rule.between);
}

function candidates({ from }: CompiledFields, document: Document): [string, string][] {
  if (from === 'form' && document.kind === 'form') return document.fields;
  if (from === 'json' && document.kind === 'json')
    return Object.entries(document.root ?? {}).flatMap(([name, value]) => {
      const text = textOf(value);
      return text === undefined ? [] : [[name, text] as [string, string]];
    });
  throw new UserError({
    message: `The signature is made of the fields of a ${from === 'form' ? 'form' : 'JSON object'}, which the body is not.`,
    remedy: 'Choose another body or content type.',
  });
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function nameOf(part: SignedPart): string {
  if (typeof part === 'string') return 'a text';
  const { from, path = [] } = part;
  return from === 'header' ? `the header ${path[0]}` : `a value at ${[from, ...path].join('.')}`;
}
