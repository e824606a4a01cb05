import type pg from 'pg';
import { readTemplate } from '../templates.ts';

/** One thing that happened in the ledger. */
export interface LedgerChange {
  source: string;
  /** An outcome of the gate, or what became of an event that was claimed before. */
  kind:
    | 'new'
    | 'reclaimed'
    | 'duplicate'
    | 'mismatch'
    | 'unkeyed'
    | 'rejected'
    | 'success'
    | 'failed'
    | 'dead'
    | 'lapsed'
    | 'overtaken';
  /** How many at once; more than 1 for rejections alone, which are only counted. */
  count: number;
  type: string | null;
  key: string | null;
  /** The error or the reason, where there is one. */
  detail: string | null;
  attempts: number | null;
}

interface EventRow {
  id: string;
  source: string;
  type: string | null;
  key: string;
  status: string;
  attempts: number;
  replays: number;
  overruns: number;
  error: string | null;
  lapsed: boolean;
}

interface Look {
  events: EventRow[];
  duplicates: {
    id: string;
    source: string;
    outcome: 'duplicate' | 'mismatch';
    type: string | null;
    key: string | null;
  }[];
  rejections: { source: string; reason: string; count: number }[];
  dead_letters: {
    id: string;
    source: string;
    kind: string;
    reason: string;
    key: string | null;
    deliveries: number;
  }[];
}

/** How far a look goes back; the statement has the same number. */
const BACK = 100n;

/** What the last look saw. Only what it gave can change before the next one, so nothing older is kept. */
interface Seen {
  events: Map<string, EventRow>;
  duplicates: Set<string>;
  /** How often each reason was counted, by source and reason. */
  rejections: Map<string, number>;
  /** How often each dead letter was delivered. */
  deadLetters: Map<string, number>;
  top: { event: bigint; duplicate: bigint; deadLetter: bigint };
}

/**
 * Watches the ledger by looking at it again and again: each `look` gives what happened since the one before, in
 * the order in which it was stored as far as that can be told. The first look gives nothing: it only remembers.
 */
export class DeliveryWatch {
  readonly #client: pg.ClientBase;
  #seen: Seen | undefined;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  /** Rejects with node-postgres's error where the connection is lost. */
  async look(): Promise<LedgerChange[]> {
    const before = this.#seen;
    const { rows } = await this.#client.query<Look>(readTemplate('sql/watch-deliveries.sql'), [
      before?.top.event ?? null,
      before ? [...before.events.values()].filter(unfinished).map(({ id }) => id) : [],
      before?.top.duplicate ?? null,
      before?.top.deadLetter ?? null,
    ]);
    const [found] = rows;
    if (!found) return [];
    this.#seen = remember(found, before);
    if (!before) return [];
    return [
      ...found.events.flatMap((row) => eventChanges(row, before)),
      ...found.duplicates.flatMap((row) => duplicateChanges(row, before)),
      ...found.rejections.flatMap((row) => rejectionChanges(row, before)),
      ...found.dead_letters.flatMap((row) => deadLetterChanges(row, before)),
    ];
  }
}

function unfinished({ status }: EventRow): boolean {
  return status === 'processing' || status === 'failed';
}

function remember(found: Look, before: Seen | undefined): Seen {
  const top = (rows: readonly { id: string }[], last: bigint | undefined): bigint =>
    rows.reduce((most, { id }) => (BigInt(id) > most ? BigInt(id) : most), last ?? 0n);
  return {
    events: new Map(found.events.map((row) => [row.id, row])),
    duplicates: new Set(found.duplicates.map(({ id }) => id)),
    rejections: new Map(found.rejections.map((row) => [rejectionName(row), row.count])),
    deadLetters: new Map(found.dead_letters.map(({ id, deliveries }) => [id, deliveries])),
    top: {
      event: top(found.events, before?.top.event),
      duplicate: top(found.duplicates, before?.top.duplicate),
      deadLetter: top(found.dead_letters, before?.top.deadLetter),
    },
  };
}

function eventChanges(row: EventRow, seen: Seen): LedgerChange[] {
  const before = seen.events.get(row.id);
  const isNew = !before && BigInt(row.id) > seen.top.event - BACK;
  const attempts = before?.attempts ?? (isNew ? 1 : row.attempts - 1);
  const change = (kind: LedgerChange['kind'], detail: string | null): LedgerChange => ({
    ...{ source: row.source, kind, count: 1, type: row.type, key: row.key, detail, attempts: row.attempts },
  });
  const changes: LedgerChange[] = [];
  if (isNew) changes.push(change('new', null));
  if (row.attempts > attempts) {
    changes.push(
      change('reclaimed', row.replays > (before?.replays ?? 0) ? 'replayed from the ledger' : null),
    );
  }
  if (row.overruns > (before?.overruns ?? 0)) changes.push(change('overtaken', null));
  const taken = isNew || row.attempts > attempts;
  const settled = row.status === 'success' || row.status === 'failed' || row.status === 'dead';
  if (settled && (taken || row.status !== before?.status)) {
    changes.push(change(row.status as LedgerChange['kind'], row.error));
  }
  if (row.lapsed && (taken || !before?.lapsed)) changes.push(change('lapsed', null));
  return changes;
}

function duplicateChanges({ id, ...row }: Look['duplicates'][number], seen: Seen): LedgerChange[] {
  if (seen.duplicates.has(id)) return [];
  return [
    {
      source: row.source,
      kind: row.outcome,
      count: 1,
      type: row.type,
      key: row.key,
      detail: null,
      attempts: null,
    },
  ];
}

function rejectionChanges(row: Look['rejections'][number], seen: Seen): LedgerChange[] {
  // Less than before where an hour has left the window.
  const count = row.count - (seen.rejections.get(rejectionName(row)) ?? 0);
  if (count <= 0) return [];
  return [
    {
      source: row.source,
      kind: 'rejected',
      count,
      type: null,
      key: null,
      detail: row.reason,
      attempts: null,
    },
  ];
}

function rejectionName({ source, reason }: Look['rejections'][number]): string {
  return `${source}\n${reason}`;
}

function deadLetterChanges(row: Look['dead_letters'][number], seen: Seen): LedgerChange[] {
  // One of an event is told of with the event.
  if (row.kind !== 'reception') return [];
  // An old one that has come again is not in the last look: it has come once since.
  const old = BigInt(row.id) <= seen.top.deadLetter - BACK;
  const count = row.deliveries - (seen.deadLetters.get(row.id) ?? (old ? row.deliveries - 1 : 0));
  if (count <= 0) return [];
  const { source, reason, key } = row;
  return [{ source, kind: 'unkeyed', count, type: null, key, detail: reason, attempts: null }];
}
