import type { NodeSpec } from '../types.ts';

/** The outputs of a Loop Over Items node. */
export const LOOP_DONE = 0;
export const LOOP_NEXT = 1;

/** A Loop Over Items node that hands on one item at a time, in order; the last node of the round leads back to it. */
export function loopOverItems(): NodeSpec {
  return {
    type: 'n8n-nodes-base.splitInBatches',
    typeVersion: 3,
    outputs: 2,
    parameters: { batchSize: 1, options: {} },
  };
}
