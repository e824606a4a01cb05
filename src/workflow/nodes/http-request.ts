import type { NodeSpec } from '../types.ts';

/** A call that reads something. */
export interface GetOptions {
  /** May be an expression. */
  url: string;
  /** A kind of credential of n8n's that is good for any address. */
  credentialKind: 'httpHeaderAuth' | 'httpBasicAuth';
  /** The credential's name. */
  credential: string;
}

/** Milliseconds until a server that accepts and never answers is given up. */
const TIMEOUT = 20_000;

/**
 * An HTTP Request node that reads an address and keeps the exact bytes, in the binary field `data`: as text or JSON
 * n8n would write numbers anew. An answer that is not 2xx fails. Redirects are not followed, for the credential would
 * go with them.
 */
export function getBytes({ url, credentialKind, credential }: GetOptions): NodeSpec {
  return {
    type: 'n8n-nodes-base.httpRequest',
    typeVersion: 4.2,
    outputs: 1,
    parameters: {
      method: 'GET',
      url,
      authentication: 'genericCredentialType',
      genericAuthType: credentialKind,
      options: {
        redirect: { redirect: { followRedirects: false } },
        response: { response: { responseFormat: 'file', outputPropertyName: 'data' } },
        timeout: TIMEOUT,
      },
    },
    credentials: { [credentialKind]: { id: null, name: credential } },
  };
}
