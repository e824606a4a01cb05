import type { CompiledSignature } from '../../../src/providers/compiled.ts';
import { type Signed, sign } from '../../../src/providers/sign.ts';
import type { Gate } from './gate.ts';
import type { Scheme } from './gate-schemes.ts';

/** Seconds since 1970 at which the requests here are signed. */
const SIGNED_AT = 1_760_000_000;

/** A scheme's own request as its sender would send it: with the signature among its headers, parameters or fields. */
export function signedRequest(scheme: Scheme, signature: CompiledSignature, secret: string): Signed {
  const { headers = {}, query = {} } = scheme;
  const body = Buffer.from(scheme.body);
  const made = sign({ signature, secret, timestamp: SIGNED_AT, headers, query, body });
  return { ...made, headers: { ...headers, ...made.headers }, query: { ...query, ...made.query } };
}

/** Which of the requests Postgres accepts for a source, five seconds after they were signed; all in one statement. */
export async function accepted(gate: Gate, id: string, requests: readonly Signed[]): Promise<boolean[]> {
  const list = requests.map(({ headers, query, body }) => ({
    headers,
    query,
    body: Buffer.from(body).toString('base64'),
  }));
  const { verdicts } = await gate.row<{ verdicts: boolean[] }>(
    `SELECT array_agg(oncehook.verify($1, r -> 'headers', r -> 'query', decode(r ->> 'body', 'base64'), to_timestamp($3)) IS NULL ORDER BY n) AS verdicts
     FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS x (r, n)`,
    [id, JSON.stringify(list), SIGNED_AT + 5],
  );
  return verdicts;
}
