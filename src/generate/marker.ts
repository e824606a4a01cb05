import type { WorkflowNode } from '../workflow/types.ts';

const PREFIX = 'oncehook: ';

/** The text for a node's notes: what it is to Oncehook, then one sentence for people. */
export function marker(role: string, sentence: string): string {
  return `${PREFIX}${role}\n${sentence}`;
}

/**
 * The role in a node's notes, or undefined for a node that is not ours. Pasting into n8n gives new ids and
 * drops the workflow's meta and settings, but keeps notes.
 */
export function roleOf(node: Pick<WorkflowNode, 'notes'>): string | undefined {
  return node.notes?.startsWith(PREFIX) ? node.notes.slice(PREFIX.length).split('\n', 1)[0] : undefined;
}
