import { UserError } from '../errors.ts';
import {
  type CompiledKeyed,
  type CompiledMac,
  type CompiledSignature,
  isKeyed,
  type Place,
} from './compiled.ts';
import { privateKey } from './key-pair.ts';
import { secretKey } from './secret-key.ts';
import { type Document, putAt, putWithin, readDocument, valueAt, writeDocument } from './signing/document.ts';
import { writeJws } from './signing/jws.ts';
import { keySignature, macOf } from './signing/mac.ts';
import { messageOf } from './signing/message.ts';

/** What is signed. */
export interface SignRequest {
  signature: CompiledSignature;
  /** The secret's text, as the sender shows it; a private key where a public one checks. */
  secret: string;
  /** The exact bytes of the request's body. */
  body: Uint8Array;
  /** The request's headers; names in any case. */
  headers: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  /** Seconds since 1970; a scheme in milliseconds keeps the fraction. */
  timestamp: number;
}

/** What makes a request look like the sender's own. */
export interface Signed {
  /** Headers to be added; names in lower case. */
  headers: Record<string, string>;
  /** Query parameters to be added. */
  query: Record<string, string>;
  /** The body to be sent: the given one, unless the signature or the time stands in it. */
  body: Uint8Array;
}

/**
 * Signs a request as its sender does. The same input gives the same result, but for ECDSA, which takes a random number.
 * @throws UserError where the secret cannot be decoded or holds no private key, or something that the signature covers is missing.
 */
export function sign(request: SignRequest): Signed {
  const { signature, secret } = request;
  const draft = new Draft(request);
  switch (signature.scheme) {
    case 'none':
      break;
    case 'token':
      draft.put(signature, () => `${signature.prefix ?? ''}${secret}`, signature.each);
      break;
    case 'basic':
      draft.put({ header: 'authorization' }, () => `Basic ${Buffer.from(secret).toString('base64')}`);
      break;
    case 'jws':
    case 'jwt':
      draft.put({ header: signature.header }, () => writeJws(signature, request));
      break;
    default:
      signParts(signature, request, draft);
  }
  return draft.finish();
}

function signParts(
  signature: CompiledMac | CompiledKeyed,
  { secret, timestamp }: SignRequest,
  draft: Draft,
): void {
  const { pairs, prefix = '', timestamp: rule, encoding } = signature;
  const { key, make } = maker(signature, secret);
  const seconds = rule?.unit !== 'ms';
  const time = rule ? `${seconds ? Math.floor(timestamp) : Math.round(timestamp * 1000)}` : '';
  if (rule && rule.pair === undefined) draft.put(rule, () => time);
  const { separator = '', name = '', equals = '=' } = pairs ?? {};
  const stamp = rule?.pair === undefined ? [] : [`${rule.pair}${equals}${time}`];
  const write = (item?: unknown): string => {
    const message = messageOf(signature, { ...draft.material(), time, secret: key, item });
    const value = make(message).toString(encoding);
    return pairs ? [...stamp, `${name}${equals}${value}`].join(separator) : `${prefix}${value}`;
  };
  draft.put(signature, write, signature.each);
}

/** How a message is signed, and what stands for {secret} in it. */
function maker(
  signature: CompiledMac | CompiledKeyed,
  secret: string,
): { key: Uint8Array; make: (message: Uint8Array) => Buffer } {
  if (isKeyed(signature)) {
    const pair = privateKey(signature.key_kind, secret);
    return { key: new Uint8Array(), make: (message) => keySignature(signature, pair, message) };
  }
  const key = secretKey(signature, secret);
  return { key, make: (message) => macOf(signature, key, message) };
}

/** A request that is being signed. */
class Draft {
  private readonly request: SignRequest;
  private readonly headers: Record<string, string>;
  private readonly query: Record<string, string>;
  private readonly added = { headers: {} as Record<string, string>, query: {} as Record<string, string> };
  private read: Document | undefined;
  private changed = false;

  constructor(request: SignRequest) {
    this.request = request;
    const named = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]);
    this.headers = Object.fromEntries(named);
    this.query = { ...request.query };
  }

  /** What placeholders may take in. */
  material() {
    const { body } = this.request;
    return {
      body: this.changed ? writeDocument(this.document()) : body,
      headers: this.headers,
      query: this.query,
      document: () => this.document(),
    };
  }

  /** Writes a text to its place; at `item`, one for each element of the list at `each`. */
  put({ header, query, body, item }: Place, write: (item?: unknown) => string, each: string[] = []): void {
    if (header !== undefined) this.headers[header] = this.added.headers[header] = write();
    if (query !== undefined) this.query[query] = this.added.query[query] = write();
    if (body !== undefined) {
      putAt(this.document(), body, write());
      this.changed = true;
    }
    if (item === undefined) return;
    const list = valueAt(this.document(), each);
    if (!Array.isArray(list) || list.length === 0)
      throw new UserError({
        message: `The signature stands in the list ${each.join('.')}, which the body does not have.`,
        remedy: 'Choose another body.',
      });
    for (const element of list) putWithin(element, item, write(element));
    this.changed = true;
  }

  finish(): Signed {
    return { ...this.added, body: this.material().body };
  }

  private document(): Document {
    this.read ??= readDocument(this.request.body, this.headers['content-type']);
    return this.read;
  }
}
