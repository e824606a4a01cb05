/** Signatures in the form that `webhook_sources` stores and that the verifier and the signer work by. */

/** A placeholder of a signed template. */
export interface SignedValue {
  from: 'body' | 'header' | 'query' | 'item' | 'timestamp' | 'secret' | 'url' | 'fields';
  /** A header's or a parameter's name, or the steps of a path; the whole body has none. */
  path?: string[];
  /** Nothing is signed in its place where it is absent. */
  optional?: true;
  /** Written as JSON, in lower case, or as a hash in hexadecimal. */
  as?: 'json' | 'lower' | 'sha256';
}

/** Literal text, or a placeholder. */
export type SignedPart = string | SignedValue;

/** Where a signature, a token or a time stands: exactly one of these. */
export interface Place {
  header?: string;
  query?: string;
  /** A path into the body. */
  body?: string[];
  /** A path into each element of the list at `each`. */
  item?: string[];
}

/** Fields of the body, in the order of their names, as one text. */
export interface CompiledFields {
  from: 'form' | 'json';
  /** Text before a field, between its name and its value, and after it. */
  before: string;
  /** Null where names are not signed. */
  middle: string | null;
  after: string;
  between: string;
  begin: string;
  except: string[];
  /** The name under which the secret takes its place among the fields. */
  secret_as?: string;
}

/** The rule of a signed time. */
export interface CompiledTime extends Omit<Place, 'item'> {
  pair?: string;
  unit: 's' | 'ms' | 'auto';
  /** Seconds. */
  tolerance: number | 'none';
  future: 'accept' | 'refuse';
}

/** HMAC, or a plain hash over a text that holds the secret. */
export interface CompiledMac extends Place {
  scheme: 'hmac' | 'hash';
  hash: 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512';
  more_headers?: string[];
  each?: string[];
  pairs?: { separator: string; name: string; equals?: string };
  prefix?: string;
  encoding: 'hex' | 'base64' | 'base64url';
  secret_encoding: 'utf8' | 'hex' | 'base64';
  secret_prefix?: string;
  /** Alternatives: the first one whose placeholders all find something is what was signed. */
  signed: SignedPart[][];
  fields?: CompiledFields;
  timestamp?: CompiledTime;
}

/** The secret itself. */
export interface CompiledToken extends Place {
  scheme: 'token';
  each?: string[];
  prefix?: string;
}

/** A signature without templates, defaults filled in. */
export type CompiledSignature = { scheme: 'none' } | CompiledToken | { scheme: 'basic' } | CompiledMac;

/** Whether a scheme computes something over the request, so that a change of what is signed is noticed. */
export function isMac(signature: CompiledSignature): signature is CompiledMac {
  return signature.scheme === 'hmac' || signature.scheme === 'hash';
}
