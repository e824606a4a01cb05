import { createHmac } from 'node:crypto';
import type pg from 'pg';
import { connect } from '../../../src/ledger/connect.ts';
import { type Answer, deliver, finish } from '../../postgres/harness/gate-statements.ts';
import type { Stack } from './project.ts';

/** The connection that n8n's credential would make, from the stack's outputs alone. */
export async function connectAsN8n(stack: Stack): Promise<pg.Client> {
  const { host, port, database, user, password, ssl } = (await stack.outputs()) as Record<string, string>;
  const url = new URL(`postgresql://${host}:${port}/${database}`);
  url.username = user ?? '';
  url.password = password ?? '';
  if (ssl !== 'disable') url.searchParams.set('sslmode', 'require');
  return connect(url.href);
}

/** One signed delivery of the source `shop`. */
export function deliverSigned(client: pg.Client, secret: string, eventId: string): Promise<Answer> {
  const body = JSON.stringify({ event_id: eventId, type: 'order.paid' });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': signature };
  return deliver(client, { source: 'shop', body, headers });
}

/** Claim, duplicate, finish, duplicate: the outcomes in their order. */
export async function walkGate(client: pg.Client, secret: string, eventId: string): Promise<string[]> {
  const first = await deliverSigned(client, secret, eventId);
  const second = await deliverSigned(client, secret, eventId);
  const done = await finish(client, first);
  const third = await deliverSigned(client, secret, eventId);
  const forged = await deliverSigned(client, `${secret}x`, `${eventId}-forged`);
  return [first.outcome, second.outcome, done.status, `${third.outcome} ${third.status}`, forged.outcome];
}

export const WALKED = ['new', 'duplicate', 'success', 'duplicate success', 'rejected'];
