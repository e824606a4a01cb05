import { formatDuration } from '../input/duration.ts';
import type { SourceStatus } from '../ledger/status.ts';
import { invocation } from './invocation.ts';
import { count, type Output, printable, table } from './output.ts';

/** What of a source's state needs a word, and what to do about it. `leaseSeconds` is the configuration's. */
export function hints(source: SourceStatus, leaseSeconds?: number): string[] {
  const { events, lapsed, overruns, deadLetters, mismatches, rejections, liveSecrets, active } = source;
  const lease = leaseSeconds === undefined ? 'its lease' : `its lease of ${formatDuration(leaseSeconds)}`;
  const found: string[] = [];
  const say = (when: boolean, text: string) => void (when && found.push(text));
  const failed = events['failed'] ?? 0;
  const rejected = Object.values(rejections).reduce((sum, number) => sum + number, 0);
  say(
    !active,
    'switched off: it left the configuration, and its deliveries are rejected; put it back or leave it',
  );
  say(
    failed > 0,
    `${count(failed, 'event')} failed: the next delivery of each, or a replay, runs its work again`,
  );
  say(
    lapsed > 0,
    `${count(lapsed, 'event')} lapsed: the run took longer than ${lease}, or n8n died in it; the next delivery takes the event over`,
  );
  say(
    overruns > 0,
    `${count(overruns, 'run')} ended after another had taken the event over, so its work may have been done twice: give the source a longer lease than ${lease.replace('its lease of ', '')}`,
  );
  say(
    deadLetters > 0,
    `${count(deadLetters, 'dead letter')}: what has no id, or failed every time, needs a person`,
  );
  say(
    mismatches > 0,
    `${count(mismatches, 'delivery', 'deliveries')} of a known event had another body: two events may share a key; look at the recipe`,
  );
  say(
    rejected > 0 && liveSecrets === 0 && active,
    `no signing secret is stored: ${invocation()} secrets sync`,
  );
  say(
    (rejections['signature wrong'] ?? 0) > 0 && liveSecrets > 0,
    'deliveries with a wrong signature: a forger, or the secret of another endpoint',
  );
  return found;
}

/** The state of all sources for people. */
export function statusText(
  database: string,
  sources: readonly (SourceStatus & { hints: readonly string[] })[],
  out: Output,
): string {
  if (sources.length === 0) return `There is no source in ${database}. Run: ${invocation()} migrate`;
  return [out.paint('dim', database), ...sources.map((source) => sourceText(source, out))].join('\n\n');
}

function sourceText(source: SourceStatus & { hints: readonly string[] }, out: Output): string {
  const { name, id, provider, events, duplicates, mismatches, rejections, deadLetters, lastEvents } = source;
  const label = name === id ? name : `${name} (id ${id})`;
  const total = Object.values(events).reduce((sum, number) => sum + number, 0);
  const byStatus = Object.entries(events).map(([status, number]) => `${number} ${status}`);
  const refused = Object.entries(rejections).map(([reason, number]) => `${number} ${printable(reason, 80)}`);
  const facts = [
    ['events', total === 0 ? 'none yet' : `${total} (${byStatus.join(', ')})`],
    ['duplicates', `${duplicates}${mismatches > 0 ? `, and ${mismatches} with another body` : ''}`],
    ['rejected', refused.length === 0 ? '0 in the last day' : `${refused.join(', ')} in the last day`],
    ['dead letters', `${deadLetters}`],
  ];
  const events_ = lastEvents.map(({ firstSeenAt, key, type, status, attempts, deliveries, error }) => [
    new Date(firstSeenAt).toISOString().slice(0, 19).replace('T', ' '),
    status,
    printable(key, 60),
    printable(type ?? '', 40),
    `${count(deliveries, 'delivery', 'deliveries')}, ${count(attempts, 'attempt')}`,
    printable(error ?? '', 80),
  ]);
  return [
    `${out.paint('bold', label)} (${provider})`,
    ...lines(table(facts)),
    ...(events_.length > 0
      ? [
          '  events: what is not done, then the last ones (UTC)',
          ...lines(table(events_)).map((line) => `  ${line}`),
        ]
      : []),
    ...source.hints.map((hint) => `  ${out.paint('yellow', '!')} ${hint}`),
  ].join('\n');
}

function lines(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`);
}
