import { Bug } from '../errors.ts';
import type { CompiledFields, CompiledParts, CompiledSignature, Place, SignedPart } from './compiled.ts';
import { jwsAlgorithms } from './schemes/jws.ts';
import type { Signature } from './signature.ts';
import { compileSigned, partsFrom, splitPath } from './signed.ts';

type Parts = Extract<Signature, { signed: unknown }>;

/** What a source adds to the signature of its provider. */
export interface SourceSettings {
  /** In place of the provider's. */
  toleranceSeconds?: number | undefined;
  /** The address that the sender calls, which {url} stands for. */
  publicUrl?: string | undefined;
  /** What {setting.name} stands for. */
  settings?: Readonly<Record<string, string>> | undefined;
}

/** A signature as Postgres takes it: templates in parts, paths in steps, one tolerance; address and settings filled in. */
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
    case 'jws':
      return { ...signature, ...jwsAlgorithms[signature.algorithm] };
    case 'jwt': {
      const { timestamp, ...rest } = signature;
      const tolerance = settings.toleranceSeconds ?? timestamp.tolerance;
      return { ...rest, ...jwsAlgorithms[signature.algorithm], timestamp: { ...timestamp, tolerance } };
    }
    default:
      return { ...compileMethod(signature), ...compileParts(signature, settings) };
  }
}

function compileMethod(signature: Parts) {
  const { scheme } = signature;
  switch (scheme) {
    case 'hmac': {
      const { hash, secret_encoding, secret_prefix } = signature;
      return { scheme, hash, secret_encoding, ...(secret_prefix === undefined ? {} : { secret_prefix }) };
    }
    case 'hash':
      return { scheme, hash: signature.hash, secret_encoding: 'utf8' } as const;
    case 'rsa':
      return { scheme, key_kind: 'rsa', hash: signature.hash } as const;
    case 'ecdsa':
      return { scheme, key_kind: 'p256', format: signature.format } as const;
    case 'ed25519':
      return { scheme, key_kind: 'ed25519' } as const;
  }
}

/** Whether a signature covers the address that is called. */
export function signsUrl(signature: Signature): boolean {
  return 'signed' in signature && templates(signature).some((text) => text.includes('{url}'));
}

/** The names of the settings that a signature covers. */
export function signedSettings(signature: Signature): string[] {
  if (!('signed' in signature)) return [];
  const parts = templates(signature).flatMap((text) => compileSigned(text).parts ?? []);
  return [...new Set(partsFrom(parts, 'setting').flatMap(({ path = [] }) => path))];
}

function compileParts(signature: Parts, source: SourceSettings): CompiledParts {
  const { header, query, body, item, each, more_headers, pairs, prefix, encoding, fields, timestamp } =
    signature;
  return {
    ...compilePlace({ header, query, body, item }),
    ...(each === undefined ? {} : { each: splitPath(each) }),
    ...(more_headers && { more_headers }),
    ...(pairs && { pairs }),
    ...(prefix === undefined ? {} : { prefix }),
    encoding,
    signed: templates(signature).map((text) => compileTemplate(text, source)),
    ...(fields && { fields: compileFields(fields) }),
    ...(timestamp && {
      timestamp: {
        ...(timestamp.pair === undefined ? {} : { pair: timestamp.pair }),
        ...compilePlace(timestamp),
        unit: timestamp.unit,
        tolerance: source.toleranceSeconds ?? timestamp.tolerance,
        future: timestamp.future,
      },
    }),
  };
}

function templates({ signed }: Parts): string[] {
  return typeof signed === 'string' ? [signed] : signed;
}

/** {url} and {setting.name} become text here, so that nothing of a request can take their place. */
function compileTemplate(text: string, { publicUrl, settings = {} }: SourceSettings): SignedPart[] {
  const { parts } = compileSigned(text);
  if (!parts) throw new Bug('A signed template passed the schema and cannot be compiled.');
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.from === 'url') return publicUrl ?? part;
    return (part.from === 'setting' ? settings[part.path?.[0] ?? ''] : undefined) ?? part;
  });
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

function compileFields({ write, ...rule }: NonNullable<Parts['fields']>): CompiledFields {
  const [, before = '', named, middle = '', after = ''] =
    /^([^{}]*?)(\{name\}([^{}]*))?\{value\}([^{}]*)$/.exec(write) ?? [];
  return { ...rule, before, middle: named === undefined ? null : middle, after };
}
