import { UserError } from '../errors.ts';
import type { ResolvedSource } from '../generate/resolve.ts';
import { signsParts } from '../providers/compiled.ts';
import { randomSecret } from '../providers/keys.ts';
import { freshSample } from '../providers/sample.ts';
import { sign } from '../providers/sign.ts';
import { isBody, partsFrom } from '../providers/signed.ts';
import type { Tamper } from './send/tampers.ts';

/** What a delivery is made of. */
export interface DeliveryPlan {
  source: Pick<ResolvedSource, 'name' | 'signature' | 'key' | 'type' | 'toleranceSeconds' | 'providerFile'>;
  /** The secret's text; undefined for a sender that signs nothing. */
  secret: string | undefined;
  /** One nonce is one event. */
  nonce: string;
  /** A sample's event type; the provider's first where undefined. */
  type?: string | undefined;
  /** The exact bytes of the body, in place of a sample. */
  body?: Uint8Array | undefined;
  /** Over those of the sample; names in lower case. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** What is broken on purpose. */
  tamper?: Tamper | undefined;
  /** Milliseconds since 1970, for the signature. */
  now: number;
}

/** A request as its sender makes it; header names in lower case. */
export interface SignedRequest {
  body: Uint8Array;
  headers: Record<string, string>;
  query: Record<string, string>;
  /** The object that would be fetched for it, where one is. */
  fetched?: Uint8Array;
}

/**
 * A signed delivery of a source.
 * @throws UserError where there is no sample of the type, the secret cannot be decoded, or what should be
 * tampered with is not there.
 */
export function signedRequest(plan: DeliveryPlan): SignedRequest {
  const { source, nonce, tamper } = plan;
  const { key, type, providerFile } = source;
  const sample = freshSample({ ...providerFile, key, type }, plan.type, nonce);
  const body = plan.body ?? sample.body;
  const headers = { ...sample.headers, ...plan.headers };
  const query = { ...sample.query };
  const fetched = sample.fetched && { fetched: sample.fetched };
  for (const name of covered(source, 'header')) headers[name] ??= nonce;
  for (const name of covered(source, 'query')) query[name] ??= nonce;
  if (source.signature.scheme === 'none') {
    if (tamper) throw nothingToTamper(`The source "${source.name}" has no signature that could notice it.`);
    return { body, headers, query, ...fetched };
  }
  const secret = tamper === 'signature' ? randomSecret(source.signature) : (plan.secret ?? '');
  const timestamp = plan.now / 1000 - (tamper === 'time' ? age(source) : 0);
  const signed = sign({ signature: source.signature, secret, body, headers, query, timestamp });
  return {
    body: tamper === 'body' ? changed(signed.body, source) : signed.body,
    headers: { ...headers, ...signed.headers },
    query: { ...query, ...signed.query },
    ...fetched,
  };
}

/** One byte more: no content type minds a blank at the end, and a signature does. */
function changed(body: Uint8Array, { name, signature }: DeliveryPlan['source']): Uint8Array {
  if (signature.scheme === 'token' || signature.scheme === 'basic')
    throw nothingToTamper(`The token of the source "${name}" does not cover the body.`);
  if (signsParts(signature) && !signature.signed.every((parts) => parts.some(isBody)))
    throw nothingToTamper(`The signature of the source "${name}" does not cover the body byte for byte.`);
  return Buffer.concat([body, Buffer.from(' ')]);
}

/** Old enough to be refused, with some seconds for the way. */
function age({ name, toleranceSeconds }: DeliveryPlan['source']): number {
  if (toleranceSeconds === null) throw nothingToTamper(`The source "${name}" signs no time.`);
  return toleranceSeconds + 60;
}

/** The names of the headers or parameters that the signature covers. */
function covered({ signature }: DeliveryPlan['source'], from: 'header' | 'query'): string[] {
  const [parts = []] = signsParts(signature) ? signature.signed : [];
  return partsFrom(parts, from).flatMap(({ path = [] }) => path);
}

function nothingToTamper(message: string): UserError {
  return new UserError({ message, remedy: 'Choose another --tamper, or leave it out.' });
}
