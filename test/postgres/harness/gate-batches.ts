import type pg from 'pg';
import type { SourceRow } from '../../../src/ledger/sources.ts';
import type { Gate } from './gate.ts';
import {
  type Answer,
  claimText,
  type Delivery,
  INSTANCE,
  only,
  type Run,
  rowsOf,
  statement,
} from './gate-statements.ts';

/** A row of a request of several events. */
export interface ItemAnswer extends Answer {
  request_outcome: string;
  request_code: number;
  request_answer: string;
  request_content_type: string;
}

/** A row of a delivery that tells of an object. */
export interface DeliveryAnswer extends Answer {
  fetch_by: string[] | null;
}

/** A source of requests with several events, at `events`. */
export const ITEMS: Partial<SourceRow> = {
  signature: { scheme: 'none' },
  key: '{body.events.0.id}',
  type: '{body.events.0.type}',
  rules: { items: [['events', null]] },
};

/** A source of deliveries that name an object in `id`. */
export const FETCH: Partial<SourceRow> = {
  signature: { scheme: 'none' },
  key: '{body.id}:{body.status}',
  type: '{body.status}',
  rules: { fetch: { values: ['{body.id}'], ids: '[A-Za-z0-9_]{1,20}' } },
};

/** Sends a request of several events. Throws where no row comes back. */
export async function deliverItems(client: pg.ClientBase, delivery: Delivery): Promise<ItemAnswer[]> {
  const rows = await rowsOf<ItemAnswer>(client, claimText(delivery, 'claim-items'));
  if (rows.length === 0) throw new Error('no row came back');
  return rows;
}

/** The events of these ids as one request, in this order. */
export function eventsOf(...ids: (string | number)[]): string {
  return JSON.stringify({ events: ids.map((id) => ({ id, type: 'made' })) });
}

/** Sends the events of these ids as one request of the source `items`; the rows. */
export function sendEvents(
  gate: Gate,
  ids: (string | number)[],
  delivery: Delivery = {},
): Promise<ItemAnswer[]> {
  return deliverItems(gate.n8n, { source: 'items', body: eventsOf(...ids), ...delivery });
}

export function deliverNews(client: pg.ClientBase, delivery: Delivery): Promise<DeliveryAnswer> {
  return only(client, claimText(delivery, 'claim-delivery'));
}

/** Hands over what was fetched for a delivery. */
export function claimObject(
  client: pg.ClientBase,
  source: string,
  held: { key: string | null; claim: string | null },
  fetched: object | string | null,
  { workflow = 'workflow', execution = '1', instance = INSTANCE }: Run = {},
): Promise<Answer> {
  const body = fetched === null || typeof fetched === 'string' ? fetched : JSON.stringify(fetched);
  return only(
    client,
    statement('claim-object', [
      source,
      held.key,
      held.claim,
      body === null ? null : Buffer.from(body).toString('base64'),
      null,
      workflow,
      execution,
      instance,
    ]),
  );
}

export function replayDelivery(
  client: pg.ClientBase,
  source: string,
  eventId: string | null,
  { workflow = 'workflow', execution = '1', instance = INSTANCE }: Run = {},
): Promise<DeliveryAnswer> {
  return only(client, statement('claim-replay-delivery', [eventId, source, workflow, execution, instance]));
}
