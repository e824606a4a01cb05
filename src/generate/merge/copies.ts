import type { Workflow } from '../../workflow/types.ts';
import { keyOf } from '../marker.ts';
import type { Recognised } from './recognise.ts';
import type { Conflict, LooseNode, LooseWorkflow, MergeReport } from './types.ts';
import { wiresOf } from './wires.ts';

/**
 * Second copies of our nodes. A single one is the user's (a second "Mark success" at the end of another branch). With a
 * second Webhook the workflow was pasted twice, and n8n cannot publish two nodes on one path: then all copies go,
 * unless something of the user's hangs on one.
 */
export function copiesOf(
  mine: LooseWorkflow,
  ours: Workflow,
  { copies }: Recognised,
  report: MergeReport,
  force: boolean,
): { extra: Set<LooseNode>; conflicts: Conflict[] } {
  const doors = new Set(ours.nodes.filter(({ webhookId }) => webhookId !== undefined).map(keyOf));
  const extra = new Set<LooseNode>();
  if (![...copies.values()].some((key) => doors.has(key))) return { extra, conflicts: [] };
  const byName = new Map([...copies.keys()].map((node) => [node.name, node]));
  const wires = wiresOf(mine.connections, new Map(mine.nodes.map(({ name }) => [name, name])));
  const [first] = wires.filter(({ from, to }) => byName.has(from) !== byName.has(to));
  for (const node of copies.keys()) extra.add(node);
  if (!first || force) report.dropped.push(...byName.keys());
  const conflict = (): Conflict => ({
    node: first && byName.has(first.from) ? first.from : (first?.to ?? ''),
    parameter: 'the whole node',
    yours: 'a second copy, with nodes of yours on it',
    generated: 'one copy',
    reason: 'the workflow was pasted twice: delete one of the copies in n8n, and export again',
  });
  return { extra, conflicts: first ? [conflict()] : [] };
}
