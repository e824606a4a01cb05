import { setTimeout as pause } from 'node:timers/promises';
import type { ResolvedSource } from '../../generate/resolve.ts';
import { connect } from '../../ledger/connect.ts';
import { DeliveryWatch, type LedgerChange } from '../../ledger/watch-deliveries.ts';
import { type Output, printable } from '../output.ts';

const INTERVAL_MS = 500;
/** What is longer is cut. */
const MOST = { type: 40, key: 60 };
/** The ids of most senders fit. */
const ID_WIDTH = 28;

/** Widths of columns, in characters; the same for a whole run, for a line is printed before the next is known. */
export interface FeedWidths {
  source: number;
  type: number;
  key: number;
}

/** Widths for what these sources are likely to get: ids as long as most are, and types as long as their samples'. */
export function feedWidths(
  sources: readonly Pick<ResolvedSource, 'id' | 'key' | 'providerFile'>[],
): FeedWidths {
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const source = longest(sources.map(({ id }) => id));
  const types = longest(sources.flatMap(({ providerFile }) => Object.keys(providerFile.samples)));
  // A key of several parts is as long as it may be shown.
  const composite = sources.some(({ key }) => /\}.*\{/.test(key));
  const key = composite ? MOST.key : Math.min(MOST.key, source + 1 + ID_WIDTH);
  return { source, type: Math.min(MOST.type, types), key };
}

/** A word of explanation for what is not plain from its name. */
const MEANING: Record<LedgerChange['kind'], string> = {
  new: 'first delivery: the work begins',
  reclaimed: 'taken again after a failure or a lapsed lease',
  duplicate: 'already taken: answered, and nothing done',
  mismatch: 'already taken, and the body differs from the first one',
  unkeyed: 'kept as a dead letter',
  rejected: 'not accepted',
  success: 'the work is done',
  failed: 'the run failed: the next delivery or a replay takes the event again',
  dead: 'every attempt failed: kept as a dead letter',
  lapsed: 'the run is longer than its lease, or n8n died: the next delivery takes the event over',
  overtaken: 'a run ended after another had taken its event over: give the source a longer lease',
};

/**
 * Shows what happens in the ledger, a line each, until `signal` is aborted.
 * @throws UserError where the connection cannot be opened; node-postgres's error where it is lost.
 */
export async function showDeliveries(
  url: string,
  out: Output,
  signal: AbortSignal,
  widths: FeedWidths,
): Promise<void> {
  const client = await connect(url, { setting: 'the development database' });
  try {
    const watch = new DeliveryWatch(client);
    while (!signal.aborted) {
      for (const change of await watch.look()) {
        const at = new Date();
        out.line({ at: at.toISOString(), ...change }, () => changeLine(at, change, out, widths));
      }
      await pause(INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    await client.end().catch(() => {});
  }
}

/** `12:01:02  shop  duplicate  order.paid  shop:evt_1  already taken: …` */
export function changeLine(
  at: Date,
  change: LedgerChange,
  out: Pick<Output, 'paint'>,
  widths: FeedWidths,
): string {
  const { source, kind, count, type, key, detail, attempts } = change;
  const time = at.toTimeString().slice(0, 8);
  const meaning = detail === null ? MEANING[kind] : `${MEANING[kind]} (${printable(detail, 160)})`;
  const try_ = kind === 'reclaimed' && attempts !== null ? `attempt ${attempts}, ` : '';
  return [
    out.paint('dim', time),
    source.padEnd(widths.source),
    out.paint(colour(kind), kind.padEnd(9)),
    printable(type ?? '', MOST.type).padEnd(widths.type),
    printable(key ?? '', MOST.key).padEnd(widths.key),
    out.paint('dim', `${count > 1 ? `${count} times, ` : ''}${try_}${meaning}`),
  ].join('  ');
}

function colour(kind: LedgerChange['kind']): 'green' | 'yellow' | 'red' {
  if (kind === 'new' || kind === 'reclaimed' || kind === 'success') return 'green';
  return kind === 'duplicate' || kind === 'mismatch' ? 'yellow' : 'red';
}
