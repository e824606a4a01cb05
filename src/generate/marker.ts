const PREFIX = 'oncehook: ';

/** The text for a node's notes: what it is to Oncehook, then one sentence for people. */
export function marker(role: string, sentence?: string): string {
  return `${PREFIX}${role}${sentence === undefined ? '' : `\n${sentence}`}`;
}

/**
 * The role in a node's notes, or undefined for a node that is not ours. Pasting into n8n gives new ids and
 * drops the workflow's meta and settings, but keeps notes. The user may have written above and below it.
 */
export function roleOf(node: object): string | undefined {
  const { notes } = node as { notes?: unknown };
  if (typeof notes !== 'string') return undefined;
  const line = notes.split('\n').find((one) => one.startsWith(PREFIX));
  return line?.slice(PREFIX.length).trim() || undefined;
}

/** What a generated node is called in stamps and merges: its role, which is the same after every upgrade. */
export function keyOf(node: { id: string }): string {
  return roleOf(node) ?? node.id;
}
