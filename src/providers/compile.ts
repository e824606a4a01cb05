import { Bug } from '../errors.ts';
import type { CompiledFields, CompiledMac, CompiledSignature, Place, SignedPart } from './compiled.ts';
import type { Signature } from './signature.ts';
import { compileSigned, splitPath } from './signed.ts';

type Mac = Extract<Signature, { scheme: 'hmac' | 'hash' }>;

/** What a source adds to the signature of its provider. */
export interface SourceSettings {
  /** In place of the provider's. */
  toleranceSeconds?: number | undefined;
  /** The address that the sender calls, which {url} stands for. */
  publicUrl?: string | undefined;
}

/** A signature as Postgres takes it: templates in parts, paths in steps, one tolerance, and the address filled in. */
export function compileSignature(signature: Signature, settings: SourceSettings = {}): CompiledSignature {
  switch (signature.scheme) {
    case 'none':
    case 'basic':
      return signature;
    case 'token': {
      const { header, query, body, item, each, ...rest } = signature;
      return {
        ...rest,
        ...compilePlace({ header, query, body, item }),
        ...(each && { each: splitPath(each) }),
      };
    }
    default:
      return compileMac(signature, settings);
  }
}

/** Whether a signature covers the address that is called. */
export function signsUrl(signature: Signature): boolean {
  if (signature.scheme !== 'hmac' && signature.scheme !== 'hash') return false;
  return templates(signature).some((text) => text.includes('{url}'));
}

function compileMac(signature: Mac, { toleranceSeconds, publicUrl }: SourceSettings): CompiledMac {
  const {
    header,
    query,
    body,
    item,
    each,
    signed: _,
    partial: _known,
    fields,
    timestamp,
    ...rest
  } = signature;
  return {
    secret_encoding: 'utf8',
    ...rest,
    ...compilePlace({ header, query, body, item }),
    ...(each === undefined ? {} : { each: splitPath(each) }),
    signed: templates(signature).map((text) => compileTemplate(text, publicUrl)),
    ...(fields && { fields: compileFields(fields) }),
    ...(timestamp && {
      timestamp: {
        ...(timestamp.pair === undefined ? {} : { pair: timestamp.pair }),
        ...compilePlace(timestamp),
        unit: timestamp.unit,
        tolerance: toleranceSeconds ?? timestamp.tolerance,
        future: timestamp.future,
      },
    }),
  };
}

function templates({ signed }: Mac): string[] {
  return typeof signed === 'string' ? [signed] : signed;
}

/** {url} becomes text here, so that nothing of a request can take its place. */
function compileTemplate(text: string, publicUrl: string | undefined): SignedPart[] {
  const { parts } = compileSigned(text);
  if (!parts) throw new Bug('A signed template passed the schema and cannot be compiled.');
  return parts.map((part) =>
    typeof part !== 'string' && part.from === 'url' && publicUrl !== undefined ? publicUrl : part,
  );
}

interface WrittenPlace {
  header?: string | undefined;
  query?: string | undefined;
  body?: string | undefined;
  item?: string | undefined;
}

function compilePlace({ header, query, body, item }: WrittenPlace): Place {
  return {
    ...(header === undefined ? {} : { header }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: splitPath(body) }),
    ...(item === undefined ? {} : { item: splitPath(item) }),
  };
}

function compileFields({ write, ...rule }: NonNullable<Mac['fields']>): CompiledFields {
  const [, before = '', named, middle = '', after = ''] =
    /^([^{}]*?)(\{name\}([^{}]*))?\{value\}([^{}]*)$/.exec(write) ?? [];
  return { ...rule, before, middle: named === undefined ? null : middle, after };
}
