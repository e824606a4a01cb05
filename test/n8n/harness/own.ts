import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Account, setUpOwner } from './account.ts';
import { type N8n, startN8n } from './n8n.ts';
import { createDatabase } from './postgres.ts';

/** An n8n that one test file has for itself, to stop and kill it. */
export interface OwnN8n {
  n8n: N8n;
  account: Account;
  /** A second process on the same database and folder, as a worker or a careless operator has it. */
  startTwin(): Promise<N8n>;
  end(): Promise<void>;
}

/** `name` names its database. */
export async function startOwnN8n(name: string): Promise<OwnN8n> {
  const folder = await mkdtemp(join(tmpdir(), `oncehook-${name}-`));
  const databaseUrl = await createDatabase(inject('shared').postgresUrl, `n8n_${name}`);
  const options = { databaseUrl, folder };
  const n8n = await startN8n(options);
  const twins: N8n[] = [];
  const end = async () => {
    for (const twin of twins) await twin.kill();
    await n8n.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const account = await setUpOwner(n8n.url);
    return {
      n8n,
      account,
      end,
      async startTwin() {
        const twin = await startN8n(options);
        twins.push(twin);
        return twin;
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}
