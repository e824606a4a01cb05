import * as pulumi from '@pulumi/pulumi';
import type pg from 'pg';
import { type Issue, UserError } from '../src/errors.ts';
import { connect } from '../src/ledger/connect.ts';
import { assertDirectConnection, assertSupported } from '../src/ledger/migration-checks.ts';
import { readTemplate } from '../src/templates.ts';
import { authorityFile, type Connection, connectionUrl } from './connection.ts';
import { type DatabaseParts, shapeOf, wishOf } from './database-plan.ts';
import type { Endpoint } from './endpoint.ts';
import { explained, refuse } from './errors.ts';
import { type FoundRole, type FoundServer, inspectIssues, type Wish } from './inspect-issues.ts';
import { known } from './known.ts';

/** What of it is on the server already: another run, another stack or the command line made it. */
export interface Found {
  database: boolean;
  /** By name. */
  roles: ReadonlySet<string>;
}

const SETTING = "the stack's configuration";
/** Together with the start of Pulumi well under a quarter of a minute. */
const TIMEOUT_MS = 8_000;

/**
 * Looks at the server before a resource is made: whether it lets us in, and whether what is wanted may be made
 * there. Waits for a server that the same program makes; undefined in a preview that cannot know where it will be,
 * or that runs where a private one cannot be reached.
 * @throws pulumi.RunError with every issue and its remedy.
 */
export async function inspectServer(endpoint: Endpoint, parts: DatabaseParts): Promise<Found | undefined> {
  const wish = wishOf(shapeOf(parts));
  return explained(async () => {
    const connection = await plainConnection(endpoint);
    if (!connection) return undefined;
    const client = await enter(endpoint, connection);
    if (!client) return undefined;
    try {
      await assertDirectConnection(client, () => connect(connectionUrl(connection), options));
      return await look(client, wish);
    } finally {
      await client.end();
    }
  });
}

const options = { setting: SETTING, timeoutMs: TIMEOUT_MS };

async function plainConnection(endpoint: Endpoint): Promise<Connection | undefined> {
  await Promise.all(endpoint.dependsOn.map(({ urn }) => known(urn)));
  const [host, port, user, password, database] = await Promise.all([
    known(endpoint.host),
    known(endpoint.port),
    known(endpoint.admin.user),
    known(endpoint.admin.password),
    known(endpoint.maintenanceDatabase),
  ]);
  if (host === undefined || port === undefined || database === undefined) return undefined;
  if (user === undefined || password === undefined) return undefined;
  const { sslmode } = endpoint;
  return { host, port, database, user, password, sslmode, sslrootcert: authorityFile(endpoint) };
}

async function enter(endpoint: Endpoint, connection: Connection): Promise<pg.Client | undefined> {
  try {
    return await connect(connectionUrl(connection), options);
  } catch (error) {
    // A server of this stack may be private: a preview from elsewhere still shows the rest.
    const mayBePrivate = endpoint.deletedWith !== undefined && pulumi.runtime.isDryRun();
    if (!mayBePrivate || !(error instanceof UserError)) throw error;
    await pulumi.log.warn(`The database was not looked at: ${error.message}`);
    return undefined;
  }
}

async function look(client: pg.Client, wish: Wish): Promise<Found> {
  const server = (await client.query<FoundServer>(readTemplate('sql/provision-server.sql'), [wish.database]))
    .rows[0] as FoundServer;
  assertSupported(server);
  const { rows: roles } = await client.query<FoundRole>(readTemplate('sql/provision-roles.sql'), [
    wish.roles.map(({ name }) => name),
    wish.database,
  ]);
  const issues: Issue[] = inspectIssues(wish, server, roles);
  refuse(issues);
  return { database: server.database_owner !== null, roles: new Set(roles.map(({ name }) => name)) };
}
