import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { inject } from 'vitest';
import { connect } from '../../../src/ledger/connect.ts';
import { type Cluster, urlOf } from './cluster.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: Cluster;
  }
}

/** A database for one test file, and connections to it that end with it. */
export interface TestDatabase {
  name: string;
  /** As the owner of the schema. */
  url: string;
  /** As `oncehook_n8n`. */
  n8nUrl: string;
  /** As superuser. */
  adminUrl: string;
  owner(): Promise<pg.Client>;
  n8n(): Promise<pg.Client>;
  admin(): Promise<pg.Client>;
  /** Ends the connections that it opened, and removes the database; call it in `afterAll`. */
  drop(): Promise<void>;
}

/** The server of this run. */
export function cluster(): Cluster {
  return inject('postgres');
}

/**
 * A migrated database with the grants of `oncehook_n8n`, or an empty one. Call it in `beforeAll`, or once a
 * test where tests must not see each other's rows: a copy takes about 50 ms.
 */
export async function createDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  return createDatabaseIn(cluster(), options);
}

/** The same in a cluster that the caller started. */
export async function createDatabaseIn(
  where: Cluster,
  options: { empty?: boolean } = {},
): Promise<TestDatabase> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await maintain(where, `CREATE DATABASE ${name}${options.empty ? '' : ` TEMPLATE ${where.template}`}`);
  const open: pg.Client[] = [];
  const opener = (role: 'admin' | 'owner' | 'n8n') => async () => {
    const client = await connect(urlOf(where, name, role), { applicationName: 'oncehook test' });
    open.push(client);
    return client;
  };
  return {
    name,
    url: urlOf(where, name),
    n8nUrl: urlOf(where, name, 'n8n'),
    adminUrl: urlOf(where, name, 'admin'),
    owner: opener('owner'),
    n8n: opener('n8n'),
    admin: opener('admin'),
    async drop() {
      await Promise.all(open.map((client) => client.end().catch(() => {})));
      await maintain(where, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function maintain(where: Cluster, statement: string): Promise<void> {
  const client = await connect(urlOf(where, 'postgres'));
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
