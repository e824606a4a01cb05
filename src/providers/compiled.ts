/** Signatures in the form that `webhook_sources` stores and that the verifier and the signer work by. */

/** A placeholder of a signed template. */
export interface SignedValue {
  from: 'body' | 'header' | 'query' | 'item' | 'timestamp' | 'secret' | 'url' | 'setting' | 'fields' | 'form';
  /** A header's or a parameter's name, or the steps of a path; the whole body has none. */
  path?: string[];
  /** Nothing is signed in its place where it is absent. */
  optional?: true;
  /** Written as JSON, in lower case, as a hash in hexadecimal, as a checksum in decimal, or as JSON with sorted names. */
  as?: 'json' | 'lower' | 'sha256' | 'crc32' | 'sorted-json';
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

/** Where signatures stand, how they are written, and what they are made over. */
export interface CompiledParts extends Place {
  more_headers?: string[];
  each?: string[];
  pairs?: { separator: string; name: string; equals?: string };
  prefix?: string;
  encoding: 'hex' | 'base64' | 'base64url';
  /** Alternatives: the first one whose placeholders all find something is what was signed. */
  signed: SignedPart[][];
  fields?: CompiledFields;
  timestamp?: CompiledTime;
}

/** HMAC, or a plain hash over a text that holds the secret. */
export interface CompiledMac extends CompiledParts {
  scheme: 'hmac' | 'hash';
  hash: 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512';
  secret_encoding: 'utf8' | 'hex' | 'base64';
  secret_prefix?: string;
}

/** How a signature is made that a public key checks. */
export interface KeyRule {
  key_kind: 'rsa' | 'p256' | 'ed25519';
  /** RSA's; the others have one of their own. */
  hash?: 'sha256' | 'sha384' | 'sha512';
  /** How ECDSA's two numbers are written; raw unless said. */
  format?: 'der' | 'raw';
}

/** A signature over parts of the request that the sender's public key checks. */
export interface CompiledKeyed extends CompiledParts, KeyRule {
  scheme: 'rsa' | 'ecdsa' | 'ed25519';
}

/** A JSON Web Signature: without its payload, which is the body (jws), or with claims of its own (jwt). */
export interface CompiledJws extends KeyRule {
  scheme: 'jws' | 'jwt';
  header: string;
  prefix?: string;
  algorithm: string;
  /** The claim that holds the body's SHA-256 in hexadecimal (jwt). */
  body_sha256?: string;
  /** The claim of the time of issue, in seconds (jwt). */
  timestamp?: { claim: string; tolerance: number; future: 'accept' | 'refuse' };
}

/** The secret itself. */
export interface CompiledToken extends Place {
  scheme: 'token';
  each?: string[];
  prefix?: string;
}

/** A signature without templates, defaults filled in. */
export type CompiledSignature =
  | { scheme: 'none' }
  | CompiledToken
  | { scheme: 'basic' }
  | CompiledMac
  | CompiledKeyed
  | CompiledJws;

/** Whether a scheme computes something over the request and a secret that both sides know. */
export function isMac(signature: CompiledSignature): signature is CompiledMac {
  return signature.scheme === 'hmac' || signature.scheme === 'hash';
}

/** Whether the source's "secret" is the sender's public key. */
export function isKeyed(signature: CompiledSignature): signature is CompiledKeyed | CompiledJws {
  return 'key_kind' in signature;
}

/** Whether a scheme signs parts of the request, so that a change of them is noticed. */
export function signsParts(signature: CompiledSignature): signature is CompiledMac | CompiledKeyed {
  return 'signed' in signature;
}
