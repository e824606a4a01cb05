import type { Provider } from '../../src/providers/schema.ts';
import { joined } from '../../src/providers/words.ts';
import { code, fence, list } from './markdown.ts';

/** What a provider's page says of its key. */
export function event(provider: Provider): (string | undefined)[] {
  const { key, items, fetch, volatile } = provider;
  const several = key.trim().includes('\n');
  return [
    items === undefined
      ? undefined
      : `One request can hold several events (${joined([items].flat().map(code))}). Each has a key and a run of its own; in the key, \`0\` stands for the event at hand.`,
    fetch === undefined
      ? undefined
      : `A request says only that something changed. It is stored and acknowledged, then n8n fetches the object from ${code(fetch.url)}, and what was fetched is the event.`,
    `An event is named by${several ? ' the first of these lines whose parts are all there' : ''}:`,
    fence('', key),
    'Two deliveries with the same key are the same event, whatever else they hold.',
    list(recipes(provider)),
    volatile.length === 0
      ? undefined
      : `When two bodies of one event are compared, ${joined(volatile.map(code))} may differ.`,
    guard(provider),
  ];
}

function recipes({ type, object, order }: Provider): string[] {
  const known: [string, string | undefined][] = [
    ['Its type', type],
    ['What it is about', object],
    ['Which of two is older (for your nodes to compare)', order],
  ];
  return known.flatMap(([label, recipe]) => {
    const lines = recipe?.trim().split('\n') ?? [];
    return lines.length === 0 ? [] : [`${label}: ${lines.map((line) => code(line.trim())).join(', or ')}`];
  });
}

function guard({ guard }: Provider): string | undefined {
  if (guard === undefined) return undefined;
  const unsigned = 'An id can stand in a header that the signature does not cover.';
  return guard === 'on'
    ? `${unsigned} So a body that came before under another id is answered as a duplicate; \`guard: false\` in the source switches that off.`
    : `${unsigned} With \`guard: true\` in the source, a body that came before under another id is answered as a duplicate. It is off by itself, because the sender may send equal bodies for two events.`;
}
