import { describe, expect, test } from 'vitest';
import { sourceWorkflow } from '../../../src/generate/source/workflow.ts';
import { listProviders } from '../../../src/providers/load.ts';
import { serialise } from '../../../src/workflow/serialise.ts';
import type { Workflow } from '../../../src/workflow/types.ts';
import { secretOf, sourceOf } from '../../catalogue/requests.ts';
import { problems } from './checks.ts';

const RESPOND = 'n8n-nodes-base.respondToWebhook';

/** Where a run may end: behind the answer, and where the events of a request that are not new are left out. */
const MAY_END = {
  'after-claim': ['Only new events', 'Still ours?', 'New object?'],
  'after-success': ['Only new events'],
};

/** Ways from the Webhook that pass by more than one answer, or by none; a way ends where it comes back to a node. */
function wrongWays({ nodes, connections }: Workflow): string[] {
  const type = new Map(nodes.map((node) => [node.name, node.type]));
  const wrong: string[] = [];
  const walk = (name: string, way: string[]): void => {
    if (way.includes(name)) return;
    const now = [...way, name];
    const next = (connections[name]?.main ?? []).flat();
    const answers = now.filter((one) => type.get(one) === RESPOND).length;
    if (answers > 1 || (next.length === 0 && answers === 0)) wrong.push(now.join(' → '));
    for (const { node } of next) walk(node, now);
  };
  for (const node of nodes) if (node.type === 'n8n-nodes-base.webhook') walk(node.name, []);
  return wrong;
}

/** Conditions of which an output leads nowhere, and error outputs that do. */
function openOutputs({ nodes, connections }: Workflow): string[] {
  return nodes
    .filter(({ type, onError }) => type === 'n8n-nodes-base.if' || onError === 'continueErrorOutput')
    .filter(({ name }) => [0, 1].some((output) => (connections[name]?.main[output] ?? []).length === 0))
    .map(({ name }) => name);
}

describe.each(listProviders())('the workflow of %s', (slug) => {
  test.each(['after-claim', 'after-success'] as const)('has the right shape, %s', (ack) => {
    const workflow = sourceWorkflow(sourceOf(slug, [`ack: ${ack}`]));
    expect(problems(workflow, ack)).toEqual([]);
    expect(wrongWays(workflow)).toEqual([]);
    expect(openOutputs(workflow).filter((name) => !MAY_END[ack].includes(name))).toEqual([]);
  });

  test('is the same bytes for the same source, and holds neither a secret nor the name of one', () => {
    const source = sourceOf(slug);
    const bytes = serialise(sourceWorkflow(source));
    expect(serialise(sourceWorkflow(sourceOf(slug)))).toBe(bytes);
    for (const word of [...source.secrets, secretOf(source)]) expect(bytes).not.toContain(word);
  });
});
