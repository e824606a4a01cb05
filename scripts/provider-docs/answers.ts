import { compileAnswer } from '../../src/providers/answer-template.ts';
import type { Provider } from '../../src/providers/schema.ts';
import { code, table } from './markdown.ts';

/** What each outcome is answered with, on a provider's page and in the catalogue. */

interface Row {
  outcome: string;
  when: string;
  status: number;
  body: string;
}

const defaults: Row[] = [
  {
    outcome: 'new',
    when: 'the event comes for the first time',
    status: 200,
    body: '{"ok":true,"duplicate":false,"key":…}',
  },
  {
    outcome: 'reclaimed',
    when: 'its run had failed or got lost, and it runs again',
    status: 200,
    body: '{"ok":true,"duplicate":false,"key":…}',
  },
  {
    outcome: 'duplicate',
    when: 'it was taken before; your nodes do not run',
    status: 200,
    body: '{"ok":true,"duplicate":true,…}',
  },
  {
    outcome: 'mismatch',
    when: 'it was taken before, and the body differs',
    status: 200,
    body: '{"ok":true,"duplicate":true,"mismatch":true,…}',
  },
  {
    outcome: 'unkeyed',
    when: 'nothing names the event; it is kept as a dead letter',
    status: 200,
    body: '{"ok":true,"quarantined":true}',
  },
  {
    outcome: 'rejected',
    when: 'the signature does not hold, or the source has no secret',
    status: 401,
    body: '{"ok":false,"error":…}',
  },
  {
    outcome: 'unavailable',
    when: 'the database cannot be reached; with `Retry-After`',
    status: 503,
    body: '{"ok":false,"error":"unavailable"}',
  },
];

/** What cannot be known of a delivery before its object was fetched. */
const ofKnownEvents = ['reclaimed', 'duplicate', 'mismatch'];

/** What a provider's page says of the answers. */
export function answers(provider: Provider): (string | undefined)[] {
  return [
    answersTable(provider),
    provider.items === undefined
      ? undefined
      : 'A request with several events gets one answer for all of them, under the first of these outcomes that one of them had; the last two hold for the whole request.',
    provider.fetch === undefined
      ? undefined
      : 'Every delivery is answered as new. Whether your nodes have run for what it tells of is seen when the object was fetched; then they do not run again.',
    repeats(provider) ? 'A name in braces stands for what the request holds there.' : undefined,
    'Each answer carries the outcome in the header `Oncehook-Outcome`. What they mean is in [how it works](../how-it-works.md#outcomes).',
  ];
}

/** Whether an answer repeats parts of the request. */
function repeats({ answers }: Provider): boolean {
  return Object.values(answers).some(({ body = '' }) =>
    compileAnswer(body).parts?.some((part) => typeof part !== 'string'),
  );
}

function answersTable(provider: Provider): string {
  const rows = defaults
    .filter(({ outcome }) => outcome !== 'rejected' || provider.signature.scheme !== 'none')
    .filter(({ outcome }) => provider.fetch === undefined || !ofKnownEvents.includes(outcome))
    .map((row) => {
      const { status, body } = answered(provider, row);
      return [code(row.outcome), row.when, `${status}`, shown(body)];
    });
  return table(['outcome', 'when', 'status', 'body'], rows);
}

/** What a duplicate gets, in a few words. */
export function duplicateWords(provider: Provider): string {
  const row = defaults.find(({ outcome }) => outcome === (provider.fetch ? 'new' : 'duplicate'));
  if (!row) return '';
  const { status, body } = answered(provider, row);
  return `${status} ${shown(body)}`;
}

/** The words of an answer: a status, and a body as code. */
export function answerWords({ status = 200, body }: { status?: number; body?: string }): string {
  return body === undefined || body === '' ? `${status} without a body` : `${status} ${code(read(body))}`;
}

/** A template of an answer as people read it: a brace that is sent itself stands once. */
function read(template: string): string {
  return template.replaceAll('{{', '{').replaceAll('}}', '}');
}

/** A 503 is not negotiable, and a duplicate whose body differs is answered by its own rule alone. */
function answered(provider: Provider, { outcome, status, body }: Row): { status: number; body: string } {
  const own = outcome === 'unavailable' ? undefined : provider.answers[outcome as keyof Provider['answers']];
  const usual = provider.items !== undefined && status === 200 ? '{"ok":true,"items":…,"new":…,…}' : body;
  return { status: own?.status ?? status, body: own?.body === undefined ? usual : read(own.body) };
}

function shown(body: string): string {
  return body === '' ? '(empty)' : code(body);
}
