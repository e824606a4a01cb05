import type { NodeSpec } from '../types.ts';

/** What a Webhook node listens to. No field of it may be an expression: one halves n8n's throughput. */
export interface WebhookOptions {
  /** Below `/webhook/`. */
  path: string;
  /** Gives the URL of an imported workflow its stability; without it the CLI's import makes another URL. */
  webhookId: string;
  /** Addresses and CIDR ranges that may call; none means any. */
  addresses: string[] | null;
}

/** A Webhook node that takes POST, keeps the exact bytes and leaves the answer to a Respond node. */
export function webhook({ path, webhookId, addresses }: WebhookOptions): NodeSpec {
  return {
    type: 'n8n-nodes-base.webhook',
    typeVersion: 2.1,
    outputs: 1,
    webhookId,
    parameters: {
      httpMethod: 'POST',
      path,
      responseMode: 'responseNode',
      options: { rawBody: true, ...(addresses?.length ? { ipWhitelist: addresses.join(', ') } : {}) },
    },
  };
}
