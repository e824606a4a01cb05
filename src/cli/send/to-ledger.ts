import { openPool } from '../../ledger/connect.ts';
import { answerOf, claim, type Delivery, markSuccess } from '../../ledger/deliver.ts';
import { N8N_ROLE } from '../../ledger/n8n-role.ts';
import type { Target } from '../database.ts';
import type { SignedRequest } from '../deliveries.ts';
import { withInvocation } from '../invocation.ts';
import type { Sent } from './rounds.ts';

/** An event that was completed after the sends. */
export interface Finished {
  key: string;
  /** What became of it: `success`, or `overtaken` where another run took it meanwhile. */
  status: string;
}

/** A way straight to the gate, past n8n. */
export interface LedgerGate {
  /** The database role that it works as; undefined for the one of the database's address. */
  role: string | undefined;
  deliver(request: SignedRequest): Promise<Omit<Sent, 'ms'>>;
  /** Completes what the deliveries claimed, as the node "Mark success" does at the end of a run. */
  finish(): Promise<Finished[]>;
  end(): Promise<void>;
}

/**
 * Opens the gate of a database: by the statement of the node "Claim event", as n8n's role where its password is
 * known. What is claimed this way is held by a run that does not exist: until `finish`, or else until its lease lapses.
 * @throws UserError where the database does not let us in.
 */
export async function openGate(
  target: Target,
  source: Pick<Delivery, 'sourceId' | 'shape'>,
  mode: 'production' | 'test',
  concurrency: number,
): Promise<LedgerGate> {
  const pool = await openPool(target.n8nUrl ?? target.url, { setting: target.setting, max: concurrency });
  const run = { workflow: 'oncehook send', execution: `${process.pid}`, instance: 'oncehook send' };
  const held: { key: string; token: string }[] = [];
  const withClient = async <T>(work: (client: Parameters<typeof claim>[0]) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  };
  return {
    role: target.n8nUrl === undefined ? undefined : N8N_ROLE,
    deliver: (request) =>
      withClient(async (client) => {
        const rows = await claim(client, { ...source, mode, ...request }, run);
        for (const { key, claim: token } of rows)
          if (key !== null && token !== null) held.push({ key, token });
        const { code, outcome, answer, reason } = answerOf(rows);
        return {
          status: code,
          outcome,
          answer: answer ?? '',
          reason: reason === null ? null : withInvocation(reason),
        };
      }),
    finish: () =>
      withClient(async (client) => {
        const finished: Finished[] = [];
        for (const { key, token } of held.splice(0)) {
          const { status } = await markSuccess(client, key, token);
          finished.push({ key, status });
        }
        return finished;
      }),
    end: () => pool.end(),
  };
}
