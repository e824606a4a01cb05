import pg from 'pg';
import { Bug } from '../errors.ts';
import { readTemplate } from '../templates.ts';

/** One HTTP request as the workflow hands it to the gate. */
export interface Delivery {
  sourceId: string;
  /** The exact bytes. */
  body: Uint8Array;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** Anything but `production` keys in a space of its own. */
  mode: 'production' | 'test';
  /** What a request of the source brings: one event, several, or the news that an object changed. */
  shape: 'event' | 'items' | 'fetch';
  /** The object that n8n would fetch for it; without it the delivery stays due. */
  fetched?: Uint8Array;
}

/** What stands for a run of n8n: what claimed an event, and what may mark it failed. */
export interface Run {
  workflow: string;
  execution: string;
  instance: string;
}

/** The row that the gate answers with, as far as callers here look at it. */
export interface Answer {
  outcome: string;
  /** The HTTP status that the sender would get. */
  code: number;
  /** The body that the sender would get. */
  answer: string | null;
  key: string | null;
  /** The fencing token, where the run holds the event. */
  claim: string | null;
  attempts: number | null;
  status: string | null;
  reason: string | null;
  /** What the whole request is answered, on every row of a request of several events. */
  request_outcome?: string;
  request_code?: number;
  request_answer?: string;
}

/** What became of a claimed event. */
export interface Transition {
  status: string;
  explanation: string | null;
}

const CLAIMS = { event: 'claim', items: 'claim-items', fetch: 'claim-delivery' } as const;

/**
 * Puts one delivery through the statements of the node "Claim event", and what was fetched for it through those of
 * "Claim object". Gives a row for each event of the request, one at least.
 */
export async function claim(client: pg.ClientBase, delivery: Delivery, run: Run): Promise<Answer[]> {
  const rows = await all<Answer>(client, CLAIMS[delivery.shape], [
    delivery.sourceId,
    Buffer.from(delivery.body).toString('base64'),
    JSON.stringify(delivery.headers),
    JSON.stringify(delivery.query),
    null, // the source's own recipe
    delivery.mode,
    run.workflow,
    run.execution,
    run.instance,
  ]);
  const [told] = rows;
  if (delivery.shape !== 'fetch' || told?.outcome !== 'new' || !delivery.fetched) return rows;
  return all<Answer>(client, 'claim-object', [
    delivery.sourceId,
    told.key,
    told.claim,
    Buffer.from(delivery.fetched).toString('base64'),
    null,
    run.workflow,
    run.execution,
    run.instance,
  ]);
}

/** What the sender hears: of several events one answer for all. */
export function answerOf([row]: readonly Answer[]): Pick<Answer, 'outcome' | 'code' | 'answer' | 'reason'> {
  if (!row) throw new Bug('A claim gave no row.');
  return {
    outcome: row.request_outcome ?? row.outcome,
    code: row.request_code ?? row.code,
    answer: row.request_answer ?? row.answer,
    // Of single events each has a reason of its own.
    reason: row.request_outcome === undefined || row.request_outcome === row.outcome ? row.reason : null,
  };
}

/** Completes an event as the node "Mark success" does. */
export function markSuccess(client: pg.ClientBase, key: string, token: string): Promise<Transition> {
  return one<Transition>(client, 'mark-success', [key, token]);
}

/** Marks what a failed run had claimed, as the node "Mark failed" does. */
export function markFailed(
  client: pg.ClientBase,
  sourceId: string,
  run: Run,
  error: string,
): Promise<Transition> {
  return one<Transition>(client, 'mark-failed', [
    sourceId,
    run.instance,
    run.execution,
    error,
    'Your business logic',
    'Error',
  ]);
}

const texts = new Map<string, string>();

/** The text of a statement: read once, however many deliveries follow. */
function textOf(statement: string): string {
  const text = texts.get(statement) ?? readTemplate(`sql/${statement}.sql`);
  texts.set(statement, text);
  return text;
}

/** The one row of a statement. */
async function one<T>(
  client: pg.ClientBase,
  statement: string,
  values: readonly (string | null)[],
): Promise<T> {
  return (await all<T>(client, statement, values))[0] as T;
}

/**
 * The statement of a node with its values written into the text and sent by the simple protocol: what n8n's
 * Postgres node does. Gives its rows.
 */
async function all<T>(
  client: pg.ClientBase,
  statement: string,
  values: readonly (string | null)[],
): Promise<T[]> {
  const sql = textOf(statement).replace(/\$(\d+)/g, (_, number: string) => {
    const value = values[Number(number) - 1];
    return value === null || value === undefined ? 'NULL' : pg.escapeLiteral(value);
  });
  const result: pg.QueryResult | pg.QueryResult[] = await client.query(sql);
  // Of several statements in one message the last one answers.
  const answer = Array.isArray(result) ? result.at(-1) : result;
  return (answer?.rows ?? []) as T[];
}
