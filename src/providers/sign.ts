import { signHmacSha256 } from './schemes/hmac-sha256.ts';
import { signNone } from './schemes/none.ts';
import { signToken } from './schemes/token.ts';
import type { CompiledSignature, Signature } from './signature.ts';

/** What is signed. */
export interface SignRequest {
  /** The secret's text, as the sender shows it. */
  secret: string;
  /** The exact bytes of the request's body. */
  body: Uint8Array;
  /** The request's headers; names in any case. */
  headers: Readonly<Record<string, string>>;
  /** Seconds since 1970; a scheme in milliseconds keeps the fraction. */
  timestamp: number;
}

/**
 * The headers (names in lower case) that make a request look like the sender's own. The same input gives the
 * same headers.
 * @throws UserError where the secret cannot be decoded or a header that the signature covers is missing.
 */
export function sign({
  signature,
  ...request
}: SignRequest & { signature: Signature | CompiledSignature }): Record<string, string> {
  switch (signature.scheme) {
    case 'none':
      return signNone();
    case 'token':
      return signToken(signature, request);
    case 'hmac-sha256':
      return signHmacSha256(signature, request);
  }
}
