import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

/** What a sticky note of a workflow says, in markdown. */
export interface Notes {
  setUp: string;
  gate: string;
  business: string;
  answer: string;
  replay: string;
  failure: string;
}

/** The words on the canvas: what each part does, where the user's nodes go, what to leave alone. */
export function notesFor(source: WorkflowSource): Notes {
  return {
    setUp: setUp(source),
    gate: lines(
      '## The gate: is this event new?',
      `The ledger in Postgres decides, in one \`INSERT … ON CONFLICT\`: see **${NODE.claim}**. It checks the sender as well.`,
      '',
      `You may edit the recipe in **${NODE.key}**. Its lines are tried in order, and the first that finds all its values names the event.`,
      '',
      `Please leave the other nodes, their names and their wires alone. Above all keep **${NODE.webhook}** free of expressions (one of them halves its speed), and keep the error outputs: they make the sender try again when the ledger is out of reach.`,
    ),
    business: business(source),
    answer: lines(
      '### Every other answer',
      source.ack === 'after-success'
        ? 'A duplicate gets 200, or 503 while the first run is still at work; a request that fails the check gets 401.'
        : 'A duplicate gets 200, a request that fails the check gets 401.',
      '',
      'What is no answer of the ledger gets 503, so that nothing is lost.',
    ),
    replay: lines(
      '### Once more',
      `Another workflow may call this one with an item \`{ "event_id": "…" }\`. If the event is due, it goes the same way as a new one; **${NODE.acknowledge}** does nothing then.`,
    ),
    failure: lines(
      '### When a run fails',
      'n8n starts this by itself. The event is free again at once for the next delivery, and after too many attempts it becomes a dead letter.',
      '',
      'If you name another error workflow in the settings, n8n runs that one instead, and a failed event waits until its lease ends.',
    ),
  };
}

function setUp({ name, path, credential, addresses, providerFile }: WorkflowSource): string {
  const { name: sender, docs, notes, retry } = providerFile;
  return lines(
    `## ${sender}: ${name}`,
    'Made by Oncehook: each event takes effect once, however often it is sent.',
    '',
    '### To switch it on',
    `1. Make one Postgres credential named **${credential}**. If it was there before the import, the nodes have it already; otherwise open each Postgres node and choose it.`,
    `2. Publish the workflow and give ${sender} its production URL, which ends in \`/webhook/${path}\`.`,
    ...senders(addresses),
    '',
    `### About ${sender}`,
    ...(retry.window ? [`- It tries for ${inWords(retry.window)} where it gets no ${retry.success}.`] : []),
    ...notes.map((note) => `- ${note.trim().replace(/\s*\n\s*/g, ' ')}`),
    ...docs.map((link) => `- [${link.replace('https://', '')}](${link})`),
  );
}

/** The address list works on what n8n takes for the caller's address, and that depends on a setting of n8n. */
function senders(addresses: string[] | null): string[] {
  if (!addresses?.length) {
    return [];
  }
  return [
    '',
    '### Who may call',
    `**${NODE.webhook}** lets ${addresses.length === 1 ? 'one address or network' : `${addresses.length} addresses and networks`} in; all others get 403. Behind a reverse proxy, set n8n's variable \`N8N_PROXY_HOPS\` to the number of proxies (mostly 1): otherwise n8n sees the proxy's address and refuses everybody.`,
  ];
}

function business({ ack, leaseSeconds }: WorkflowSource): string {
  const lease = leaseSeconds % 60 === 0 ? `${leaseSeconds / 60} min` : `${leaseSeconds} s`;
  return lines(
    '## Your part',
    `Put your nodes in the place of **${NODE.business}**. The item that reaches them holds the event:`,
    '- `body`: what was sent, parsed; `headers` and `query` beside it',
    '- `key`: the idempotency key, good for calls to other systems; `external_id`: the same without the prefix',
    '- `type`, `object_id`, `first_seen_at`, `attempts`',
    '',
    `Read these from the item, not from \`$('${NODE.webhook}')\`: a replay does not pass there.`,
    '',
    `Let every way through your nodes end in **${NODE.markSuccess}**, also the one that has nothing to do. A node that may find nothing needs *Always Output Data* in its settings. Without that the event stays open, and it runs again after its lease of ${lease}.`,
    '',
    ack === 'after-claim'
      ? `The sender has its answer before your nodes begin. If one of them throws, the event is marked as failed and may run again.`
      : `The sender waits for your nodes: if one throws, it gets 500 and tries again (n8n 2.38.7 or newer). Keep them quick.`,
  );
}

function inWords(duration: string): string {
  const amount = Number.parseInt(duration, 10);
  const unit = { s: 'second', m: 'minute', h: 'hour', d: 'day' }[duration.slice(-1)] ?? '';
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

function lines(...parts: string[]): string {
  return parts.join('\n');
}
