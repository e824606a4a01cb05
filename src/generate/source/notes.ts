import { type Shape, shapeOf } from '../../providers/compile-batches.ts';
import { fetchCredential } from './fetch.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

/** What a sticky note of a workflow says, in markdown. */
export interface Notes {
  setUp: string;
  gate: string;
  /** Only where an object is fetched. */
  object?: string;
  business: string;
  /** Where nodes of the user answer questions. */
  decision?: string;
  answer: string;
  replay: string;
  failure: string;
}

/** The words on the canvas: what each part does, where the user's nodes go, what to leave alone. */
export function notesFor(source: WorkflowSource): Notes {
  const shape = shapeOf(source.rules);
  const recipe = `You may edit the recipe in **${NODE.key}**. Its lines are tried in order, and the first that finds all its values names the event.`;
  return {
    setUp: setUp(source),
    gate: lines(
      ...GATE[shape],
      '',
      ...(shape === 'fetch' ? [] : [recipe, '']),
      `Please leave the other nodes, their names and their wires alone. Above all keep **${NODE.webhook}** free of expressions (one of them halves its speed), and keep the error outputs: they make the sender try again when the ledger is out of reach.`,
    ),
    ...(shape === 'fetch' ? { object: object(source, recipe) } : {}),
    business: business(source),
    ...(source.decide ? { decision: decision(source) } : {}),
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

const GATE: Record<Shape, string[]> = {
  event: [
    '## The gate: is this event new?',
    `The ledger in Postgres decides, in one \`INSERT … ON CONFLICT\`: see **${NODE.claim}**. It checks the sender as well.`,
  ],
  items: [
    '## The gate: which of these events are new?',
    `One request brings several events. The ledger in Postgres decides for each of them, in one \`INSERT … ON CONFLICT\`: see **${NODE.claim}**. It checks the sender as well.`,
  ],
  fetch: [
    '## The gate: keep the delivery',
    `A request says only that something changed. **${NODE.claim}** checks the sender and keeps the delivery in the ledger, so that it is not lost before its object is fetched.`,
  ],
};

function object(source: WorkflowSource, recipe: string): string {
  return lines(
    '## The object: is its change new?',
    `**${NODE.fetch}** reads the object with the credential **${fetchCredential(source).credential}**. If that fails, the delivery is due again and a replay fetches once more.`,
    '',
    `What was fetched is the event, and **${NODE.claimObject}** takes it if it is new: many deliveries of one change have one effect. ${recipe}`,
  );
}

function setUp(source: WorkflowSource): string {
  const { name, path, credential, addresses, providerFile } = source;
  const { name: sender, docs, notes, retry } = providerFile;
  return lines(
    `## ${sender}: ${name}`,
    'Made by Oncehook: each event takes effect once, however often it is sent.',
    '',
    '### To switch it on',
    `1. Make one Postgres credential named **${credential}**. If it was there before the import, the nodes have it already; otherwise open each Postgres node and choose it.`,
    ...api(source),
    `${providerFile.fetch ? 3 : 2}. Publish the workflow and give ${sender} its production URL, which ends in \`/webhook/${path}\`.`,
    ...senders(addresses),
    '',
    `### About ${sender}`,
    ...(retry.window ? [`- It tries for ${inWords(retry.window)} where it gets no ${retry.success}.`] : []),
    ...notes.map((note) => `- ${note.trim().replace(/\s*\n\s*/g, ' ')}`),
    ...docs.map((link) => `- [${link.replace('https://', '')}](${link})`),
  );
}

/** The credential of the sender's own API, where an object is fetched. */
function api(source: WorkflowSource): string[] {
  const { name, fetch } = source.providerFile;
  if (!fetch) return [];
  const { credential, credentialKind } = fetchCredential(source);
  const kind = credentialKind === 'httpHeaderAuth' ? 'Header Auth' : 'Basic Auth';
  return [
    `2. Make a ${kind} credential named **${credential}** for ${name}'s API, and choose it in **${NODE.fetch}**: ${fetch.credential_hint}`,
  ];
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

function business({ ack, leaseSeconds, rules }: WorkflowSource): string {
  const shape = shapeOf(rules);
  const lease = leaseSeconds % 60 === 0 ? `${leaseSeconds / 60} min` : `${leaseSeconds} s`;
  return lines(
    '## Your part',
    `Put your nodes in the place of **${NODE.business}**. The item that reaches them holds the event:`,
    BODY[shape],
    '- `key`: the idempotency key, good for calls to other systems; `external_id`: the same without the prefix',
    '- `type`, `object_id`, `first_seen_at`, `attempts`',
    '',
    `Read these from the item, not from \`$('${NODE.webhook}')\`: a replay does not pass there.`,
    '',
    `Let every way through your nodes end in **${NODE.markSuccess}**, also the one that has nothing to do. A node that may find nothing needs *Always Output Data* in its settings. Without that the event stays open, and it runs again after its lease of ${lease}.`,
    '',
    ...(shape === 'items'
      ? [
          'They run for one event at a time, in the order of the request. All events of a request share the lease of their run, so it must be long enough for all of them.',
          '',
        ]
      : []),
    ack === 'after-claim'
      ? `The sender has its answer before your nodes begin. If one of them throws, the event is marked as failed and may run again.`
      : `The sender waits for your nodes: if one throws, it gets 500 and tries again (n8n 2.38.7 or newer). Keep them quick.`,
  );
}

const BODY: Record<Shape, string> = {
  event: '- `body`: what was sent, parsed; `headers` and `query` beside it',
  items: '- `body`: what was sent, parsed, with this one event in its lists; `headers` and `query` beside it',
  fetch: '- `body`: the object that was fetched, parsed; `headers` and `query` of the delivery beside it',
};

function decision({ providerFile: { name, questions } }: WorkflowSource): string {
  const said = ({ status = 200, body = '' }: { status?: number; body?: string }) =>
    `${status} ${body === '' ? 'without a body' : `\`${body.replaceAll('{{', '{').replaceAll('}}', '}')}\``}`;
  return lines(
    '## Your decision',
    `${name} asks before it acts, and waits for the answer. Put your nodes in the place of **${NODE.decision}**. The item that reaches them holds the question: \`body\`, \`headers\`, \`query\`, and in \`reason\` its name.`,
    '',
    'Let them end in an item with `code` and `answer`:',
    ...questions.map((one) => `- \`${one.name}\`: yes is ${said(one.accept)}, no is ${said(one.refuse)}`),
    '',
    'What they leave out is a no; nothing says yes by itself. A question is no event: it is answered anew each time. A node that throws gives the sender 500 (n8n 2.38.7 or newer).',
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
