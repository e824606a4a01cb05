import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Runs of the business node that a test keeps waiting, by an advisory lock that it holds. */
export interface Hold {
  /** How many runs wait. */
  waiting(): Promise<number>;
  /** They go on, and later runs do not wait. */
  release(): Promise<void>;
}

/**
 * Makes the business node wait for this key, from its next run on. A second hold of the same key takes the
 * runs that begin after it: each hold keeps and releases its own.
 */
export async function hold(databaseUrl: string, key: string): Promise<Hold> {
  const lock = randomUUID();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [lock]);
  await client.query(
    'INSERT INTO held VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET lock = excluded.lock',
    [key, lock],
  );
  return {
    async waiting() {
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_locks
         WHERE locktype = 'advisory' AND NOT granted
           AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`,
        [lock],
      );
      return rows[0]?.count ?? 0;
    },
    async release() {
      await client.query('DELETE FROM held WHERE key = $1 AND lock = $2', [key, lock]);
      await client.end();
    },
  };
}
