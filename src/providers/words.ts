import type { Provider } from './schema.ts';
import type { Signature } from './signature.ts';
import { splitPath } from './signed.ts';

/** A provider's signature in the words that people read, on its page and in the catalogue. */

/** What schemes have between them; each has some of it. */
interface Parts {
  scheme: string;
  hash?: string;
  algorithm?: string;
  header?: string;
  more_headers?: string[];
  query?: string;
  body?: string;
  item?: string;
  each?: string;
  pairs?: { name: string };
  prefix?: string;
  encoding?: string;
  signed?: string | string[];
  fields?: { from: string; secret_as?: string };
}

const families: Record<string, string> = { rsa: 'RSA', ecdsa: 'ECDSA', ed25519: 'Ed25519' };
const encodings: Record<string, string> = {
  hex: 'in hexadecimal',
  base64: 'in base64',
  base64url: 'in base64url',
};

/** How the sender proves itself, in a few words: `HMAC-SHA256 over the time and the body`. */
export function signatureWords(signature: Signature): string {
  const parts: Parts = signature;
  switch (parts.scheme) {
    case 'none':
      return 'nothing is signed; the list of addresses alone';
    case 'basic':
      return 'user and password';
    case 'token':
      return 'the secret itself';
    case 'jws':
      return `a detached JWS (${parts.algorithm}) over the body`;
    case 'jwt':
      return `a JWT (${parts.algorithm}) that holds the hash of the body`;
    default:
      return `${algorithm(parts)} over ${joined(coveredWords(signature))}`;
  }
}

/** Where the signature stands and how it is written; undefined where nothing is signed. */
export function placeWords(signature: Signature): string | undefined {
  const parts: Parts = signature;
  if (parts.scheme === 'none') return undefined;
  if (parts.scheme === 'basic') return 'in the header `authorization`';
  const headers = [parts.header, ...(parts.more_headers ?? [])].filter((name) => name !== undefined);
  const place =
    headers.length > 2
      ? `in one of the headers \`${headers[0]}\` to \`${headers.at(-1)}\``
      : headers.length > 0
        ? `in the header ${headers.map((name) => `\`${name}\``).join(' or ')}`
        : parts.query !== undefined
          ? `in the query parameter \`${parts.query}\``
          : parts.body !== undefined
            ? `in the body, at \`${parts.body}\``
            : `in each element of \`${parts.each}\`, at \`${parts.item}\``;
  return [
    place,
    parts.pairs && `as the pair \`${parts.pairs.name}\``,
    parts.prefix && `after \`${parts.prefix}\``,
    parts.encoding && encodings[parts.encoding],
  ]
    .filter(Boolean)
    .join(', ');
}

/** The templates of what is signed; empty for schemes that have none. */
export function signedTemplates(signature: Signature): string[] {
  const { signed }: Parts = signature;
  return signed === undefined ? [] : [signed].flat();
}

/** A list of `uncovered` in words. */
export function uncoveredWords(uncovered: Provider['uncovered']): string[] {
  const wholes: Record<string, string> = {
    body: 'the body',
    headers: 'every other header',
    query: 'every other query parameter',
    time: 'the time: there is none, so that an old request stays valid',
    url: 'the address that is called',
  };
  return uncovered.map((place) => {
    const [from = '', ...path] = splitPath(place);
    if (path.length === 0) return wholes[place] ?? place;
    if (from === 'header') return `the header \`${path.join('.')}\``;
    return from === 'query' ? `the query parameter \`${path.join('.')}\`` : `\`${place}\``;
  });
}

/** How well it is known that a signature is right. */
export function proofWords(by: NonNullable<Provider['proof']>['by'] | undefined): string {
  switch (by) {
    case 'sdk':
      return "checked against the sender's own library";
    case 'vector':
      return 'checked against a signed request';
    case 'documentation':
      return 'written after the documentation';
    default:
      return 'unproven';
  }
}

/** `a, b and c`. */
export function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function algorithm({ scheme, hash }: Parts): string {
  const name = hash?.toUpperCase().replace(/^SHA(?=\d)/, 'SHA-');
  if (scheme === 'hmac') return `HMAC-${hash?.toUpperCase()}`;
  if (scheme === 'hash') return `a plain ${name}`;
  return [families[scheme] ?? scheme, name].filter(Boolean).join(' with ');
}

/** What the first template covers, each kind once, in the order of the template. */
function coveredWords(signature: Signature): string[] {
  const [template = ''] = signedTemplates(signature);
  const { fields }: Parts = signature;
  const words = [...template.matchAll(/\{(\w+)([^{}]*)\}/g)].map(([, from = '', rest = '']) => {
    const single = rest.startsWith('.');
    switch (from) {
      case 'body':
        return single
          ? 'values of the body'
          : rest === ''
            ? 'the body'
            : rest === '|crc32'
              ? 'a checksum of the body'
              : 'a hash of the body';
      case 'timestamp':
        return 'the time';
      case 'url':
        return 'the address';
      case 'header':
      case 'query':
        return from === 'header' ? 'headers' : 'query parameters';
      case 'item':
        return 'values of each event';
      case 'fields':
        return `the sorted fields of the ${fields?.from === 'json' ? 'body' : 'form'}`;
      case 'form':
        return 'the sorted form';
      case 'setting':
        return 'a setting';
      case 'secret':
        return 'the secret';
      default:
        return '';
    }
  });
  if (fields?.secret_as !== undefined) words.push('the secret');
  return [...new Set(words.filter((word) => word !== ''))];
}
