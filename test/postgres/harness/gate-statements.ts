import type pg from 'pg';
import { readTemplate } from '../../../src/templates.ts';

/** What the gate answers; `event_id` and `first_seen_at` as node-postgres reads them. */
export interface Answer {
  outcome: string;
  code: number;
  answer: string;
  content_type: string;
  retry_after: number | null;
  key: string | null;
  claim: string | null;
  attempts: number | null;
  status: string | null;
  reason: string | null;
  source: string | null;
  event_id: string | null;
  type: string | null;
  external_id: string | null;
  object_id: string | null;
  first_seen_at: Date | null;
  body: unknown;
  headers: Record<string, unknown> | null;
  query: Record<string, unknown> | null;
}

export interface Transition {
  status: string;
  explanation: string | null;
}

/** One delivery as n8n hands it to the node "Claim event". */
export interface Delivery {
  source?: string | null;
  /** The bytes as they came; null where n8n has none; `{ base64 }` for a text that need not be base64. */
  body?: Uint8Array | string | null | undefined | { base64: string };
  /** An object, or the text in place of its JSON. */
  headers?: Record<string, unknown> | string | null;
  query?: Record<string, unknown> | string | null;
  recipe?: string | null;
  mode?: string | null;
  workflow?: string | null;
  execution?: string | null;
  instance?: string | null;
}

/** A run that claims or fails: what n8n says of itself. */
export interface Run {
  workflow?: string;
  execution?: string;
  instance?: string;
}

export const INSTANCE = 'http://n8n.test';
const statements = new Map<string, string>();

/** The text of a statement with its values written into it, as n8n's Postgres node does. */
export function statement(name: string, values: readonly (string | null)[]): string {
  if (!statements.has(name)) statements.set(name, readTemplate(`sql/${name}.sql`));
  return (statements.get(name) ?? '').replace(/\$([1-9][0-9]*)/g, (_match, number: string) => {
    const value = values[Number(number) - 1];
    return value === null || value === undefined ? 'null' : `'${value.replaceAll("'", "''")}'`;
  });
}

/** The claim's text for this delivery; of another kind of source, the one that takes the same parameters. */
export function claimText(delivery: Delivery, name = 'claim'): string {
  const { body = '{}', headers = {}, query = {}, mode = 'production' } = delivery;
  return statement(name, [
    delivery.source ?? null,
    body === null ? null : base64(body),
    typeof headers === 'string' ? headers : headers && JSON.stringify(headers),
    typeof query === 'string' ? query : query && JSON.stringify(query),
    delivery.recipe ?? null,
    mode,
    ...run(delivery),
  ]);
}

/** Asks for the answer to a delivery that was made up, as whoever has n8n's role could. */
export function reportText(delivery: object, body = ''): string {
  // As base64, so that any bytes can be made up.
  const made = JSON.stringify({ ...delivery, damaged: true }).replaceAll("'", "''");
  return `SELECT set_config('oncehook.body', '${Buffer.from(body).toString('base64')}', true),
      set_config('oncehook.delivery', jsonb_populate_record(NULL::oncehook.delivery, '${made}')::text, true);
    SELECT * FROM oncehook.report()`;
}

/** Sends what `reportText` gives. */
export async function report(client: pg.ClientBase, delivery: object, body = ''): Promise<Answer> {
  const results: unknown = await client.query(reportText(delivery, body));
  return (results as pg.QueryResult<Answer>[]).at(-1)?.rows[0] as Answer;
}

/** Sends one delivery by the simple protocol. Throws unless exactly one row comes back. */
export async function deliver(client: pg.ClientBase, delivery: Delivery): Promise<Answer> {
  return only<Answer>(client, claimText(delivery));
}

export async function finish(
  client: pg.ClientBase,
  claimed: { key: string | null; claim: string | null },
): Promise<Transition> {
  return only(client, statement('mark-success', [claimed.key, claimed.claim]));
}

export async function fail(
  client: pg.ClientBase,
  source: string,
  failed: Run & { error?: string | null; lastNode?: string | null; errorName?: string | null } = {},
): Promise<Transition> {
  const [, execution, instance] = run(failed);
  const { error = 'it broke', lastNode = 'Your business logic', errorName = 'NodeOperationError' } = failed;
  return only(
    client,
    statement('mark-failed', [source, instance ?? null, execution ?? null, error, lastNode, errorName]),
  );
}

export async function replay(
  client: pg.ClientBase,
  source: string | null,
  eventId: string | null,
  by: Run = {},
): Promise<Answer> {
  return only(client, statement('claim-replay', [eventId, source, ...run(by)]));
}

/** The SQLSTATE with which a statement fails; '' where it does not. Nothing of what it did stays. */
export async function sqlState(client: pg.ClientBase, sql: string): Promise<string> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    return '';
  } catch (error) {
    return (error as pg.DatabaseError).code ?? 'unknown';
  } finally {
    await client.query('ROLLBACK');
  }
}

function run({ workflow = 'workflow', execution = '1', instance = INSTANCE }: Delivery): (string | null)[] {
  return [workflow, execution, instance];
}

function base64(body: Uint8Array | string | { base64: string }): string {
  if (typeof body === 'object' && 'base64' in body) return body.base64;
  return Buffer.from(body).toString('base64');
}

/** The rows of every statement of a text, for n8n's node hands them all on. */
export async function rowsOf<T extends object>(client: pg.ClientBase, sql: string): Promise<T[]> {
  const results: pg.QueryResult<T> | pg.QueryResult<T>[] = await client.query<T>(sql);
  return [results].flat().flatMap((result) => result.rows);
}

export async function only<T extends object>(client: pg.ClientBase, sql: string): Promise<T> {
  const rows = await rowsOf<T>(client, sql);
  const [row] = rows;
  if (rows.length !== 1 || !row) throw new Error(`${rows.length} rows came back in place of one`);
  return row;
}
