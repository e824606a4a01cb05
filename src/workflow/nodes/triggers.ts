import type { NodeSpec } from '../types.ts';

/** Starts a run when another workflow calls this one, with that workflow's items as they are. */
export function executeWorkflowTrigger(): NodeSpec {
  return {
    type: 'n8n-nodes-base.executeWorkflowTrigger',
    typeVersion: 1.1,
    outputs: 1,
    parameters: { inputSource: 'passthrough' },
  };
}

/** Starts a run when a published run of a workflow fails; a workflow that holds one is its own error workflow. */
export function errorTrigger(): NodeSpec {
  return { type: 'n8n-nodes-base.errorTrigger', typeVersion: 1, outputs: 1, parameters: {} };
}
