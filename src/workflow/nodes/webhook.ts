import type { NodeSpec } from '../types.ts';

/** What a Webhook node listens to. No field of it may be an expression: one halves n8n's throughput. */
export interface WebhookOptions {
  /** Below `/webhook/`. */
  path: string;
  /** Gives the URL of an imported workflow its stability; without it the CLI's import makes another URL. */
  webhookId: string;
  /** Addresses and CIDR ranges that may call; none means any. */
  addresses: string[] | null;
  /** Whether it takes GET as well, at an output of its own. */
  get?: boolean;
}

/** The outputs of a Webhook node that takes GET as well. */
export const WEBHOOK_POST = 0;
export const WEBHOOK_GET = 1;

/** A Webhook node that takes POST (and GET), keeps the exact bytes and leaves the answer to a Respond node. */
export function webhook({ path, webhookId, addresses, get = false }: WebhookOptions): NodeSpec {
  return {
    type: 'n8n-nodes-base.webhook',
    typeVersion: 2.1,
    outputs: get ? 2 : 1,
    webhookId,
    parameters: {
      ...(get ? { multipleMethods: true, httpMethod: ['POST', 'GET'] } : { httpMethod: 'POST' }),
      path,
      responseMode: 'responseNode',
      options: { rawBody: true, ...(addresses?.length ? { ipWhitelist: addresses.join(', ') } : {}) },
    },
  };
}
