import pg from 'pg';
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
}

/** What became of a claimed event. */
export interface Transition {
  status: string;
  explanation: string | null;
}

/** Puts one delivery through the statements of the node "Claim event". */
export function claim(client: pg.ClientBase, delivery: Delivery, run: Run): Promise<Answer> {
  return one<Answer>(client, 'claim', [
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

/**
 * The statement of a node with its values written into the text and sent by the simple protocol: what n8n's
 * Postgres node does. Gives its one row.
 */
async function one<T>(
  client: pg.ClientBase,
  statement: string,
  values: readonly (string | null)[],
): Promise<T> {
  const sql = textOf(statement).replace(/\$(\d+)/g, (_, number: string) => {
    const value = values[Number(number) - 1];
    return value === null || value === undefined ? 'NULL' : pg.escapeLiteral(value);
  });
  const result: pg.QueryResult | pg.QueryResult[] = await client.query(sql);
  // Of several statements in one message the last one answers.
  const answer = Array.isArray(result) ? result.at(-1) : result;
  return answer?.rows[0] as T;
}
