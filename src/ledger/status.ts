import type pg from 'pg';
import { UserError } from '../errors.ts';
import { readTemplate } from '../templates.ts';

/** One of a source's events. Times are ISO 8601. */
export interface EventStatus {
  id: string;
  key: string;
  type: string | null;
  /** A status of `webhook_events`, or `lapsed`: still processing, after its lease. */
  status: string;
  attempts: number;
  deliveries: number;
  firstSeenAt: string;
  processedAt: string | null;
  error: string | null;
}

/** How one source is doing. Counts are of what retention has left. */
export interface SourceStatus {
  id: string;
  name: string;
  provider: string;
  /** False once the source left the configuration. */
  active: boolean;
  ack: 'after-claim' | 'after-success';
  liveSecrets: number;
  /** By status. */
  events: Record<string, number>;
  /** Events whose lease ran out before their work ended. */
  lapsed: number;
  /** Runs that ended after another one had taken their event over. */
  overruns: number;
  duplicates: number;
  mismatches: number;
  /** By reason, in the last day. */
  rejections: Record<string, number>;
  /** Not yet resolved. */
  deadLetters: number;
  /** First those that are not done (open, lapsed, failed, dead), then the others; newest first. */
  lastEvents: EventStatus[];
}

/**
 * The state of every source, with `events` of its events (five unless given): what is not done goes first.
 *
 * Throws UserError where the database was not migrated.
 */
export async function readStatus(
  client: pg.ClientBase,
  options: { events?: number } = {},
): Promise<SourceStatus[]> {
  try {
    const sql = readTemplate('sql/ledger-status.sql');
    const { rows } = await client.query<{ source: SourceStatus }>(sql, [options.events ?? 5]);
    return rows.map(({ source }) => source);
  } catch (error) {
    const { code } = error as pg.DatabaseError;
    if (code !== '42P01' && code !== '3F000') throw error;
    throw new UserError({
      message: 'The database has no schema of Oncehook.',
      remedy: 'Run: oncehook migrate',
    });
  }
}
