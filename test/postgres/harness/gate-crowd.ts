import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { expect } from 'vitest';
import type { Gate } from './gate.ts';
import type { Answer } from './gate-statements.ts';

/** Connections of n8n's role that all send at once. */
export interface Crowd {
  clients: pg.Client[];
  /** Runs the work of each of the first `size` clients at the same time. */
  all<T>(size: number, work: (client: pg.Client, index: number) => Promise<T>): Promise<T[]>;
}

export async function gather(gate: Gate, size: number): Promise<Crowd> {
  const clients = await Promise.all(Array.from({ length: size }, () => gate.database.n8n()));
  // What waits here waits for the test, and on a busy machine for longer than n8n should.
  await Promise.all(clients.map((client) => client.query("SET lock_timeout = '30s'")));
  return {
    clients,
    all: (count, work) => Promise.all(clients.slice(0, count).map(work)),
  };
}

/** Waits until so many connections of this database wait for a lock. */
export async function untilBlocked(gate: Gate, count: number): Promise<void> {
  const admin = await gate.database.admin();
  for (;;) {
    const { rows } = await admin.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if ((rows[0]?.n ?? 0) >= count) break;
    await pause(5);
  }
  await admin.end();
}

/** Does `first` in an open transaction, starts `then` until it waits for it, and ends the transaction. */
export async function meanwhile<A, B>(
  gate: Gate,
  options: { opener: pg.Client; end: 'COMMIT' | 'ROLLBACK'; waiting?: number },
  first: (client: pg.Client) => Promise<A>,
  then: () => Promise<B>,
): Promise<[A, B]> {
  const { opener, end, waiting = 1 } = options;
  await opener.query('BEGIN');
  const opened = await first(opener);
  const late = then();
  await untilBlocked(gate, waiting);
  await opener.query(end);
  return [opened, await late];
}

/** How often each outcome came, e.g. `{ new: 1, duplicate: 63 }`. */
export function tally(rows: readonly { outcome: string }[]): Record<string, number> {
  return rows.reduce<Record<string, number>>((counts, { outcome }) => {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    return counts;
  }, {});
}

/** Of all claims on one event none shares its attempt with another, and the last one is the event's. */
export async function expectOneLiveClaim(gate: Gate, key: string, claims: readonly Answer[]): Promise<void> {
  const attempts = claims.map((claim) => claim.attempts ?? 0).sort((a, b) => a - b);
  expect(new Set(attempts).size).toBe(attempts.length);
  const { rows } = await gate.owner.query(
    `SELECT attempts, (SELECT count(*)::int FROM unnest($2::text[]) AS c WHERE sha256(convert_to(c, 'UTF8')) = claim_hash) AS holders
     FROM oncehook.webhook_events WHERE idempotency_key = $1`,
    [key, claims.map(({ claim }) => claim)],
  );
  expect(rows).toEqual([{ attempts: attempts.at(-1), holders: 1 }]);
}
