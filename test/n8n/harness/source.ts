import { randomUUID } from 'node:crypto';
import type { ResolvedSource } from '../../../src/generate/resolve.ts';
import { awaitLive } from '../../../src/n8n/probe.ts';
import {
  findWorkflow,
  importWorkflow,
  publishWorkflow,
  type StoredWorkflow,
  unpublishWorkflow,
} from '../../../src/n8n/workflows.ts';
import { freshSample } from '../../../src/providers/sample.ts';
import { sign } from '../../../src/providers/sign.ts';
import type { Workflow } from '../../../src/workflow/types.ts';
import type { Account } from './account.ts';
import { type Answer, type DeliveryOptions, deliver } from './deliver.ts';
import { type Execution, endedExecutions } from './executions.ts';
import { type Hold, hold } from './hold.ts';
import { importByCommand } from './import.ts';
import type { Place } from './n8n.ts';
import { query } from './postgres.ts';
import { SECRETS } from './secrets.ts';

export type ImportWay = 'command' | 'REST';

/** A signed request, ready to be sent as often as a test likes. */
export interface Request {
  body: Buffer;
  headers: Record<string, string>;
}

export interface LedgerRow {
  id: string;
  status: string;
  attempts: number;
  deliveries: number;
  error: string | null;
  overruns: number;
}

/** One source of a test's world: its workflow in n8n, and its rows in the ledger. */
export class TestSource {
  readonly resolved: ResolvedSource;
  /** The workflow as the test imports it: generated, with the business node in place. */
  readonly workflow: Workflow;
  readonly account: Account;
  readonly place: Place;
  readonly databaseUrl: string;

  constructor(
    account: Account,
    place: Place,
    databaseUrl: string,
    resolved: ResolvedSource,
    workflow: Workflow,
  ) {
    this.account = account;
    this.place = place;
    this.databaseUrl = databaseUrl;
    this.resolved = resolved;
    this.workflow = workflow;
  }

  get url(): string {
    return `${this.account.url}/webhook/${this.resolved.path}`;
  }

  async import(way: ImportWay, workflow: Workflow = this.workflow): Promise<void> {
    if (way === 'command') await importByCommand(this.place, workflow);
    else await importWorkflow(this.account, workflow);
  }

  async stored(): Promise<StoredWorkflow> {
    const found = await findWorkflow(this.account, this.workflow);
    if (!found) throw new Error(`n8n does not have the workflow of ${this.resolved.name}`);
    return found;
  }

  async publish(): Promise<void> {
    await publishWorkflow(this.account, (await this.stored()).id);
    await awaitLive(this.account.url, this.resolved.path);
  }

  async unpublish(): Promise<void> {
    await unpublishWorkflow(this.account, (await this.stored()).id);
    await awaitLive(this.account.url, this.resolved.path, false);
  }

  /** Replaces what is published; resolves when the old version can no longer answer. */
  async replace(workflow: Workflow): Promise<void> {
    await this.unpublish();
    await this.import('REST', workflow);
    await this.publish();
  }

  /** A signed request with exactly this body; of now, and with the first secret, unless said otherwise. */
  request(
    body: string | Buffer | object,
    { headers = {}, secret = 'FIRST_SECRET', age = 0 }: RequestOptions = {},
  ): Request {
    const bytes = Buffer.isBuffer(body)
      ? body
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const signed = sign({
      signature: this.resolved.signature,
      secret: SECRETS[secret] ?? secret,
      body: bytes,
      headers,
      timestamp: Date.now() / 1000 - age,
    });
    return { body: Buffer.from(signed.body), headers: { ...headers, ...signed.headers } };
  }

  /** A signed request with the provider's sample as a new event. */
  event(options: RequestOptions & { type?: string } = {}): Request {
    const sample = freshSample(
      { ...this.resolved.providerFile, key: this.resolved.key, type: this.resolved.type },
      options.type,
      randomUUID(),
    );
    return this.request(Buffer.from(sample.body), {
      ...options,
      headers: { ...sample.headers, ...options.headers },
    });
  }

  deliver(request: Request, options: DeliveryOptions = {}): Promise<Answer> {
    return deliver(this.url, { ...request, ...options });
  }

  /** The key that the gate's answer names. */
  keyOf(answer: Answer): string {
    const { key } = JSON.parse(answer.body) as { key?: string };
    if (!key) throw new Error(`The answer names no key: ${answer.status} ${answer.body}`);
    return key;
  }

  async ledger(key: string): Promise<LedgerRow | undefined> {
    const rows = await query<LedgerRow>(
      this.databaseUrl,
      `SELECT id::text, status, attempts, deliveries::int, error, overruns
       FROM oncehook.webhook_ledger WHERE idempotency_key = $1`,
      [key],
    );
    return rows[0];
  }

  /** How often the business node had its effect for this key. */
  async effects(key: string): Promise<number> {
    const [row] = await query<{ count: number }>(
      this.databaseUrl,
      'SELECT count(*)::int AS count FROM effects WHERE key = $1',
      [key],
    );
    return row?.count ?? 0;
  }

  /** The ended executions of the workflow, newest first, once there are at least `count`. */
  async executions(count: number): Promise<Execution[]> {
    return endedExecutions(this.account, (await this.stored()).id, count);
  }

  /** Makes the business node wait for this key, from its next run on. */
  hold(key: string): Promise<Hold> {
    return hold(this.databaseUrl, key);
  }
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** A name of SECRETS, or a secret's text. */
  secret?: string;
  /** Seconds since it was signed. */
  age?: number;
}
