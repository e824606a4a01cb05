import { NODE_SIZE, textHeight } from '../../../src/workflow/layout.ts';
import type { Json, Workflow, WorkflowNode } from '../../../src/workflow/types.ts';
import { overlaps } from '../workflow/geometry.ts';

const RESPOND = 'n8n-nodes-base.respondToWebhook';
const STICKY = 'n8n-nodes-base.stickyNote';
const POSTGRES = 'n8n-nodes-base.postgres';
const BUSINESS = 'Your business logic';
/** Where the events of one request go round. */
const LOOP = 'Each event';
/** The wires that must lead back: of that round, and to answers that others share. */
const BACK = [
  ['Still ours?', LOOP],
  ['Still ours?', 'Unavailable'],
  ['New object?', 'Answer'],
];
/** Where a request has to pass before the business nodes: a failure of any of them must be answered. */
const TO_THE_CLAIM = ['Idempotency key', 'Claim event'];

/** Everything that is wrong with the shape of a workflow, whatever its source. */
export function problems(workflow: Workflow, ack: 'after-claim' | 'after-success'): string[] {
  return [
    ...identity(workflow),
    ...ends(workflow),
    ...answers(workflow, ack),
    ...canvas(workflow),
    ...postgres(workflow),
    ...webhooks(workflow),
  ];
}

function identity({ nodes }: Workflow): string[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const names = new Set(nodes.map(({ name }) => name));
  return [
    ...(ids.size === nodes.length ? [] : ['an id is used twice']),
    ...(names.size === nodes.length ? [] : ['a name is used twice']),
  ];
}

function ends(workflow: Workflow): string[] {
  const names = new Set(workflow.nodes.map(({ name }) => name));
  const wires = allWires(workflow);
  const reached = new Set(wires.map(({ to }) => to));
  return [
    ...wires
      .filter(({ from, to }) => !names.has(from) || !names.has(to))
      .map((wire) => `loose wire ${show(wire)}`),
    ...workflow.nodes
      .filter(({ type, name }) => type !== STICKY && !isTrigger(type) && !reached.has(name))
      .map(({ name }) => `no wire leads to "${name}"`),
  ];
}

/** Walks every way from the Webhook. */
function answers(workflow: Workflow, ack: 'after-claim' | 'after-success'): string[] {
  const found: string[] = [];
  const type = new Map(workflow.nodes.map((node) => [node.name, node.type]));
  const walk = (name: string, way: string[], answered: boolean): void => {
    if (way.includes(name) && name === LOOP) return;
    if (way.includes(name)) {
      found.push(`a circle at "${name}"`);
      return;
    }
    const now = answered || type.get(name) === RESPOND;
    if (name === BUSINESS && ack === 'after-claim' && !answered) {
      found.push(`${way.join(' → ')} reaches the business nodes without an answer`);
    }
    const next = (workflow.connections[name]?.main ?? []).flat().map(({ node }) => node);
    if (next.length === 0 && !now) {
      found.push(`${[...way, name].join(' → ')} ends without an answer`);
    }
    for (const target of next) {
      walk(target, [...way, name], now);
    }
  };
  walk('Webhook', [], false);
  // What is fetched is keyed behind the answer.
  const fetches = type.has('Fetch object');
  for (const name of fetches ? TO_THE_CLAIM.slice(1) : TO_THE_CLAIM) {
    const node = workflow.nodes.find((one) => one.name === name);
    const error = workflow.connections[name]?.main[1]?.[0]?.node;
    if (node?.onError !== 'continueErrorOutput' || error !== 'Unavailable') {
      found.push(`a failure of "${name}" does not lead to a 503`);
    }
  }
  if ((workflow.connections['New event?']?.main.length ?? 0) !== 2) {
    found.push('"New event?" has an open output');
  }
  return found;
}

function canvas(workflow: Workflow): string[] {
  const notes = workflow.nodes.filter(({ type }) => type === STICKY);
  const nodes = workflow.nodes.filter(({ type }) => type !== STICKY);
  const place = new Map(workflow.nodes.map(({ name, position }) => [name, position]));
  const noteBoxes = notes.map(noteBox);
  const nodeBoxes = nodes.map(({ position: [x, y] }) => ({ x, y, width: NODE_SIZE, height: NODE_SIZE }));
  const at = (boxes: { [index: number]: WorkflowNode }, [a, b]: [number, number]) =>
    `"${boxes[a]?.name}" and "${boxes[b]?.name}" overlap`;
  return [
    ...overlaps(noteBoxes).map((pair) => at(notes, pair)),
    ...overlaps(nodeBoxes).map((pair) => at(nodes, pair)),
    ...nodes.flatMap(({ name, position: [x, y] }) => {
      const under = noteBoxes.filter(
        (box) =>
          x > box.x && x + NODE_SIZE < box.x + box.width && y > box.y && y + NODE_SIZE < box.y + box.height,
      );
      const clear = under.every((box) => y >= box.y + box.text);
      return under.length === 1 && clear ? [] : [`"${name}" does not stand on one note, below its text`];
    }),
    ...allWires(workflow)
      .filter(({ from, to }) => !BACK.some(([start, end]) => from === start && to === end))
      .filter(({ from, to }) => (place.get(from)?.[0] ?? 0) >= (place.get(to)?.[0] ?? 0))
      .map((wire) => `${show(wire)} runs from right to left`),
  ];
}

function noteBox({ position: [x, y], parameters }: WorkflowNode) {
  const [width, height] = [Number(parameters['width']), Number(parameters['height'])];
  // 240 is a column of the layout.
  const text = textHeight({ text: String(parameters['content']), columns: width / 240 });
  return { x, y, width, height, text };
}

function postgres({ nodes }: Workflow): string[] {
  return nodes
    .filter(({ type }) => type === POSTGRES)
    .flatMap(({ name, parameters, credentials, alwaysOutputData }) => {
      const query = String(parameters['query']);
      const options = parameters['options'] as Record<string, Json>;
      const values = String(options['queryReplacement']);
      return [
        ...(/\{\{|\$\$|^=/.test(query) ? [`the SQL of "${name}" would be changed by n8n`] : []),
        ...(name.startsWith('Claim') && !alwaysOutputData ? [`"${name}" may end a branch in silence`] : []),
        ...(options['connectionTimeout'] === 3 ? [] : [`"${name}" may wait for ever`]),
        ...(options['queryBatching'] === 'independently' ? [] : [`"${name}" may deadlock`]),
        ...(/^=\{\{ \[ .+ \] \}\}$/.test(values) ? [] : [`the parameters of "${name}" are not one array`]),
        ...(credentials?.['postgres']?.id === null
          ? []
          : [`"${name}" is not bound by its credential's name`]),
      ];
    });
}

function webhooks({ nodes }: Workflow): string[] {
  const all = nodes.filter(({ type }) => type === 'n8n-nodes-base.webhook');
  const [only] = all;
  return [
    ...(all.length === 1 ? [] : ['not exactly one Webhook']),
    ...(only?.webhookId ? [] : ['the Webhook has no webhookId']),
    ...(JSON.stringify(only?.parameters).includes('"=') ? ['the Webhook holds an expression'] : []),
  ];
}

function allWires({ connections }: Workflow): { from: string; to: string }[] {
  return Object.entries(connections).flatMap(([from, { main }]) =>
    main.flat().map(({ node }) => ({ from, to: node })),
  );
}

function isTrigger(type: string): boolean {
  return type === 'n8n-nodes-base.webhook' || type.endsWith('Trigger');
}

function show({ from, to }: { from: string; to: string }): string {
  return `"${from}" → "${to}"`;
}
