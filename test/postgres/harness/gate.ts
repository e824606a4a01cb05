import type pg from 'pg';
import { addSecret, retireSecret } from '../../../src/ledger/secrets.ts';
import { type SourceRow, syncSources } from '../../../src/ledger/sources.ts';
import type { CompiledSignature } from '../../../src/providers/compiled.ts';
import { storedKey } from '../../../src/providers/keys.ts';
import { type Signed, sign } from '../../../src/providers/sign.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { type Delivery, deliver } from './gate-statements.ts';
import { sourceRow } from './source-row.ts';

/** The live secret of every source that `addSource` makes, unless another one is named. */
export const SECRET = 'whsec_gate';

/** A database with sources and secrets, and what sends to it. */
export interface Gate {
  database: TestDatabase;
  owner: pg.Client;
  n8n: pg.Client;
  /** Adds or changes a source; its secrets are texts, stored under the rule of its signature. */
  addSource(id: string, change?: Partial<SourceRow>, secrets?: readonly string[]): Promise<SourceRow>;
  /** Takes the source out of the configuration: it is switched off. */
  removeSource(id: string): Promise<void>;
  addSecret(id: string, secret: string, name?: string): Promise<void>;
  retireSecret(id: string, name: string): Promise<void>;
  /** The headers of a signed delivery of this source; those given are kept. */
  sign(id: string, body: Uint8Array | string, options?: SignOptions): Record<string, string>;
  /** The whole of a signed request: its headers, query and body. */
  request(id: string, body: Uint8Array | string, options?: SignOptions): Signed;
  /** A delivery that is signed as its source demands; the body of an object is its JSON. */
  send(id: string, body: Uint8Array | string | object, delivery?: SignedDelivery): Promise<Answer>;
  /** The first row of a query of the owner. */
  row<T extends object = Row>(sql: string, values?: unknown[]): Promise<T>;
  /** The event of this key, as the table holds it. */
  event(key: string): Promise<Row>;
}

type Answer = Awaited<ReturnType<typeof deliver>>;
export type Row = Record<string, unknown>;

export interface SignOptions {
  secret?: string;
  /** Seconds since 1970; now where left out. */
  timestamp?: number;
  headers?: Record<string, string>;
  query?: Record<string, string>;
}

/** A delivery of which body and signature are made. */
export type SignedDelivery = Omit<Delivery, 'source' | 'body' | 'headers' | 'query'> & SignOptions;

/** A gate on a database of its own; `gate.database.drop()` ends it. */
export async function openGate(): Promise<Gate> {
  const database = await createDatabase();
  const owner = await database.owner();
  const n8n = await database.n8n();
  const sources = new Map<string, SourceRow>();
  const sourceOf = (id: string): SourceRow => {
    const row = sources.get(id);
    if (!row) throw new Error(`the test has no source ${id}`);
    return row;
  };
  const gate: Gate = {
    database,
    owner,
    n8n,
    async addSource(id, change = {}, secrets = [SECRET]) {
      const row = sourceRow(id, change);
      sources.set(id, row);
      await syncSources(owner, [...sources.values()]);
      for (const [index, secret] of secrets.entries()) await gate.addSecret(id, secret, `secret ${index}`);
      return row;
    },
    async removeSource(id) {
      sources.delete(id);
      await syncSources(owner, [...sources.values()]);
    },
    async addSecret(id, secret, name = secret) {
      const signature = sourceOf(id).signature as CompiledSignature;
      await addSecret(owner, { sourceId: id, name, key: storedKey(signature, secret) });
    },
    async retireSecret(id, name) {
      await retireSecret(owner, id, name, { evenLast: true });
    },
    sign(id, body, options) {
      return gate.request(id, body, options).headers;
    },
    request(id, body, { secret = SECRET, timestamp = Date.now() / 1000, headers = {}, query = {} } = {}) {
      const signature = sourceOf(id).signature as CompiledSignature;
      const signed = sign({ signature, secret, timestamp, headers, query, body: Buffer.from(body) });
      return { ...signed, headers: { ...headers, ...signed.headers }, query: { ...query, ...signed.query } };
    },
    async send(id, body, delivery = {}) {
      const bytes =
        typeof body === 'string' || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
      const request = gate.request(id, bytes, {
        ...delivery,
        headers: { 'content-type': 'application/json', ...delivery.headers },
      });
      return deliver(n8n, { ...delivery, source: id, ...request });
    },
    async row<T extends object = Row>(sql: string, values?: unknown[]): Promise<T> {
      return (await owner.query(sql, values)).rows[0] as T;
    },
    async event(key) {
      return gate.row('SELECT * FROM oncehook.webhook_events WHERE idempotency_key = $1', [key]);
    },
  };
  return gate;
}
