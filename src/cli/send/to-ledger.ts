import { openPool } from '../../ledger/connect.ts';
import { claim } from '../../ledger/deliver.ts';
import type { Target } from '../database.ts';
import type { SignedRequest } from '../deliveries.ts';
import type { Sent } from './rounds.ts';

/** A way straight to the gate, past n8n. */
export interface LedgerGate {
  deliver(request: SignedRequest): Promise<Omit<Sent, 'ms'>>;
  end(): Promise<void>;
}

/**
 * Opens the gate of a database: by the statement of the node "Claim event", as n8n's role where its password is
 * known. What is claimed this way is held by a run that does not exist, until its lease lapses.
 * @throws UserError where the database does not let us in.
 */
export async function openGate(
  target: Target,
  sourceId: string,
  mode: 'production' | 'test',
  concurrency: number,
): Promise<LedgerGate> {
  const pool = await openPool(target.n8nUrl ?? target.url, { setting: target.setting, max: concurrency });
  const run = { workflow: 'oncehook send', execution: `${process.pid}`, instance: 'oncehook send' };
  return {
    async deliver(request) {
      const client = await pool.connect();
      try {
        const row = await claim(client, { sourceId, mode, ...request }, run);
        return { status: row.code, outcome: row.outcome, answer: row.answer ?? '', reason: row.reason };
      } finally {
        client.release();
      }
    },
    end: () => pool.end(),
  };
}
