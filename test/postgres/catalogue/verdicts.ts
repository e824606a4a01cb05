import type { Request } from '../../catalogue/requests.ts';
import type { Gate } from '../harness/gate.ts';

/** What the gate says of requests to a source at a time (seconds since 1970): null where the signature holds. */
export async function verdicts(
  gate: Gate,
  source: string,
  requests: readonly Request[],
  at: number,
): Promise<(string | null)[]> {
  const given = requests.map(({ body, headers, query }) => ({
    body: Buffer.from(body).toString('base64'),
    headers,
    query,
  }));
  const { rows } = await gate.owner.query<{ says: string | null; fully: string | null }>(
    `SELECT oncehook.verify(s.id, r.headers, r.query, decode(r.body, 'base64'), to_timestamp($3::float8)) AS says,
       oncehook.verify_fully(s, r.headers, r.query, decode(r.body, 'base64'), to_timestamp($3::float8)) AS fully
     FROM oncehook.webhook_sources s,
       ROWS FROM (jsonb_to_recordset($2::jsonb) AS (body text, headers jsonb, query jsonb)) WITH ORDINALITY AS r (body, headers, query, place)
     WHERE s.id = $1 ORDER BY r.place`,
    [source, JSON.stringify(given), at],
  );
  if (rows.length !== requests.length)
    throw new Error(`${rows.length} verdicts on ${requests.length} requests`);
  const torn = rows.find(({ says, fully }) => says !== fully);
  if (torn) throw new Error(`verify says ${torn.says}, verify_fully ${torn.fully}`);
  return rows.map(({ says }) => says);
}
