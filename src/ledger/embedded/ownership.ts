import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectTo, type RunningServer } from './running.ts';

/**
 * Every start keeps one connection of this name to its server, with its own process id behind it. The
 * system closes it when that process ends in whatever way, which a file with a process id cannot tell.
 */
const OWNER_NAME = 'oncehook server of process ';

/** The mark of a process on a server that it looks after. */
export interface Ownership {
  /** Takes the mark away; resolves when the server has seen it. */
  release(): Promise<void>;
}

/** Marks this process as the one that looks after the server. Rejects where the server does not let us in yet. */
export async function holdOwnership(server: Omit<RunningServer, 'pid'>): Promise<Ownership> {
  let released = false;
  const connection = () => connectTo(server, `${OWNER_NAME}${process.pid}`);
  let client = await connection();
  const renew = async (): Promise<void> => {
    // When one backend dies, Postgres ends all connections and goes on: the mark must come back.
    while (!released) {
      await pause(100, undefined, { ref: false });
      const next = await connection().catch(() => undefined);
      if (next) {
        watch(next);
        client = next;
        if (released) await next.end();
        return;
      }
    }
  };
  const watch = (watched: pg.Client) => watched.once('end', () => void renew());
  watch(client);
  return {
    async release() {
      released = true;
      await client.end().catch(() => {});
    },
  };
}

/** Who looks after a running server, and how long it has been running. */
export interface Custody {
  /** The process id, or undefined where the server was left alone. */
  owner: number | undefined;
  ageMs: number;
}

/** Rejects with node-postgres's error where the server stops meanwhile. */
export async function custodyOf(server: RunningServer): Promise<Custody> {
  const client = await connectTo(server, 'oncehook');
  try {
    const { rows } = await client.query<{ name: string | null; age: number }>(
      `SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS age,
         (SELECT max(application_name) FROM pg_stat_activity WHERE starts_with(application_name, $1)) AS name`,
      [OWNER_NAME],
    );
    const { name = null, age = 0 } = rows[0] ?? {};
    return { owner: name === null ? undefined : Number(name.slice(OWNER_NAME.length)), ageMs: age * 1000 };
  } finally {
    await client.end();
  }
}
