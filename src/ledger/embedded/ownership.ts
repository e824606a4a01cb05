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

/**
 * The process that looks after a running server; `owner` is undefined where it was left alone. Rejects with
 * node-postgres's error where the server stops meanwhile.
 */
export async function markOf(server: RunningServer): Promise<{ owner: number | undefined }> {
  const client = await connectTo(server, 'oncehook');
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT application_name AS name FROM pg_stat_activity WHERE starts_with(application_name, $1)',
      [OWNER_NAME],
    );
    return { owner: rows[0] && Number(rows[0].name.slice(OWNER_NAME.length)) };
  } finally {
    await client.end();
  }
}
