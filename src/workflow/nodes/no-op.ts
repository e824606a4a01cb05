import type { NodeSpec } from '../types.ts';

/** A node that passes its input on: a place for somebody else's nodes. */
export function noOp(): NodeSpec {
  return { type: 'n8n-nodes-base.noOp', typeVersion: 1, outputs: 1, parameters: {} };
}
