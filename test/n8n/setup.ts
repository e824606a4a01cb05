import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type Account, setUpOwner } from './harness/account.ts';
import { type N8n, type Place, startN8n } from './harness/n8n.ts';
import { createDatabase, type Postgres, startPostgres } from './harness/postgres.ts';
import { installN8n } from './install.ts';

/** What every test file gets: one n8n and one Postgres, shared because starting them takes long. */
export interface Shared {
  account: Account;
  place: Place;
  /** The superuser's connection URL of the Postgres server, its database `postgres`. */
  postgresUrl: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    shared: Shared;
  }
}

/** Installs n8n where it is missing, starts Postgres and n8n, and takes both down again. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => project.vitest.logger.log(line);
  await installN8n(say);
  const folder = await mkdtemp(join(tmpdir(), 'oncehook-n8n-'));
  let postgres: Postgres | undefined;
  let n8n: N8n | undefined;
  const tearDown = async () => {
    await n8n?.stop();
    await postgres?.stop();
    const failed = project.vitest.state.getCountOfFailedTests() > 0;
    if (failed && n8n && existsSync(n8n.log)) say(`n8n's log: ${n8n.log}`);
    else await rm(folder, { recursive: true, force: true });
  };
  try {
    postgres = await startPostgres(folder);
    // One proxy is believed, so that a test can come from any address by X-Forwarded-For.
    n8n = await startN8n({
      databaseUrl: await createDatabase(postgres.urlFor('postgres'), 'n8n'),
      folder: join(folder, 'n8n'),
      proxyHops: 1,
    });
    say(`n8n: started in ${(n8n.startedIn / 1000).toFixed(1)} s at ${n8n.url}`);
    const { url, log, env } = n8n;
    project.provide('shared', {
      account: await setUpOwner(url),
      place: { url, log, env },
      postgresUrl: postgres.urlFor('postgres'),
    });
  } catch (error) {
    await tearDown();
    throw error;
  }
  return tearDown;
}
