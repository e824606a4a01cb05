import { createHash, createHmac, randomUUID } from 'node:crypto';
import { readTemplate } from '../../src/templates.ts';

export const SECRET = 'whsec_bench';
export const SOURCE = 'bench';

const claim = cut(readTemplate('sql/claim.sql'));
const verify = cut("SELECT oncehook.verify($1::text, $2::jsonb, '{}', decode($3, 'base64'), now())");

/** A signed body of about 2 kB, of the shape of a payment provider's event. */
export function delivery(id: string): { body: Buffer; headers: string } {
  const body = Buffer.from(
    JSON.stringify({
      id,
      object: 'event',
      created: 1_760_000_000,
      livemode: false,
      type: 'payment_intent.succeeded',
      request: { id: 'req_1', idempotency_key: 'k1' },
      data: {
        object: {
          id: 'pi_1',
          amount: 1999,
          currency: 'usd',
          metadata: { order_id: 'A1', note: 'x'.repeat(1600) },
        },
      },
    }),
  );
  const time = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', SECRET).update(`${time}.`).update(body).digest('hex');
  const headers = {
    host: 'n8n.example.com',
    'user-agent': 'bench/1.0',
    'content-type': 'application/json; charset=utf-8',
    'content-length': `${body.length}`,
    'stripe-signature': `t=${time},v1=${mac}`,
    accept: '*/*',
  };
  return { body, headers: JSON.stringify(headers) };
}

/** The gate's statement with its values written into the text: how n8n's Postgres node sends it. */
export function claimStatement(id: string = randomUUID()): string {
  const { body, headers } = delivery(id);
  const values = [
    SOURCE,
    body.toString('base64'),
    headers,
    '{}',
    '{body.id}',
    'production',
    'w',
    '1',
    'http://n8n',
  ];
  return written(claim, values);
}

/** The same row by an INSERT that checks nothing. */
export function plainStatement(id: string = randomUUID()): string {
  const { body, headers } = delivery(id);
  const hex = (bytes: Buffer) => `'\\x${bytes.toString('hex')}'::bytea`;
  const sha256 = createHash('sha256').update(body).digest();
  return `INSERT INTO oncehook.webhook_events (idempotency_key, source, event_type, external_id, object_id, content_type,
      headers, query, body, body_sha256, payload, claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance)
    VALUES (${quote(`${SOURCE}:${id}`)}, '${SOURCE}', 'payment_intent.succeeded', ${quote(id)}, 'pi_1',
      'application/json; charset=utf-8', ${quote(headers)}, '{}', decode('${body.toString('base64')}', 'base64'),
      ${hex(sha256)}, ${quote(body.toString())}, ${hex(sha256)}, now() + interval '15 minutes',
      now() + interval '15 minutes', 'w', '1', 'http://n8n')
    ON CONFLICT (idempotency_key) DO NOTHING`;
}

/** The signature check alone. */
export function verifyStatement(): string {
  const { body, headers } = delivery('evt_1');
  return written(verify, [SOURCE, headers, body.toString('base64')]);
}

/** A MAC of the same bytes, and nothing else: pgcrypto's. */
export function hmacStatement(): string {
  const { body } = delivery('evt_1');
  const signed = Buffer.concat([Buffer.from('1760000000.'), body]);
  return `SELECT hmac(decode('${signed.toString('base64')}', 'base64'), '${SECRET}'::bytea, 'sha256')`;
}

/** A statement cut at its parameters once, so that the client's own work is as small as for the other side. */
function cut(sql: string): string[] {
  return sql.split(/\$(\d)/);
}

function written(pieces: string[], values: string[]): string {
  return pieces.map((piece, index) => (index % 2 ? quote(values[Number(piece) - 1] ?? '') : piece)).join('');
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
