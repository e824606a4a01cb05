import type { NodeSpec } from '../types.ts';

/** An HTTP answer. Each text may be an expression. */
export interface AnswerOptions {
  /** A number, or an expression that yields one: n8n answers 500 to a text. */
  code: number | string;
  headers: { name: string; value: string }[];
  body: string;
}

/** A Respond to Webhook node that answers with text and passes its input on. Outside a webhook's run it does nothing. */
export function respond({ code, headers, body }: AnswerOptions): NodeSpec {
  return {
    type: 'n8n-nodes-base.respondToWebhook',
    typeVersion: 1.5,
    outputs: 1,
    parameters: {
      respondWith: 'text',
      responseBody: body,
      options: {
        responseCode: code,
        responseHeaders: { entries: headers.map(({ name, value }) => ({ name, value })) },
      },
    },
  };
}
