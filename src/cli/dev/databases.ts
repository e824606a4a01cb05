import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { connect } from '../../ledger/connect.ts';
import { findServer, serverUrl } from '../../ledger/embedded/running.ts';
import { N8N_ROLE } from '../../ledger/n8n-role.ts';
import { scramVerifier } from '../../ledger/scram.ts';
import type { Target } from '../database.ts';
import { FILES, type Passwords, readPasswords } from './folder.ts';

/** The user's own ledger. */
export const DATABASE = 'oncehook';
/** Migrates and owns the schema; no superuser, as on every managed Postgres. */
export const OWNER_ROLE = 'oncehook_owner';
/** Databases that live no longer than a proof. */
const THROW_AWAY = 'oncehook_proof_';

/** Addresses of one database of the development server, by who connects. */
export interface DevServer {
  urlFor(database: string, login?: { user: string; password?: string }): string;
}

export const ownerUrl = (server: DevServer, database: string, { owner }: Passwords): string =>
  server.urlFor(database, { user: OWNER_ROLE, password: owner });

export const n8nUrl = (server: DevServer, database: string, { n8n }: Passwords): string =>
  server.urlFor(database, { user: N8N_ROLE, password: n8n });

/** Makes the owner's role and the user's database where they are missing, and sets the owner's password. */
export async function prepareServer(server: DevServer, passwords: Passwords): Promise<void> {
  await asSuperuser(server, async (client) => {
    const role = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [OWNER_ROLE]);
    const verifier = pg.escapeLiteral(
      scramVerifier(passwords.owner, 'the password of the development database'),
    );
    await client.query(
      `${role.rowCount ? 'ALTER' : 'CREATE'} ROLE ${OWNER_ROLE} LOGIN CREATEROLE NOSUPERUSER PASSWORD ${verifier}`,
    );
    const known = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (known.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE} OWNER ${OWNER_ROLE}`);
    // What a run that was killed in the middle of its proof left. One start at a time has this server.
    const left = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [THROW_AWAY],
    );
    for (const { name } of left.rows) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
}

/** Runs work with an empty database of its own, which is gone afterwards. */
export async function withThrowAwayDatabase<T>(
  server: DevServer,
  work: (database: string) => Promise<T>,
): Promise<T> {
  const name = `${THROW_AWAY}${randomBytes(6).toString('hex')}`;
  await asSuperuser(server, (client) => client.query(`CREATE DATABASE ${name} OWNER ${OWNER_ROLE}`));
  try {
    return await work(name);
  } finally {
    await asSuperuser(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  }
}

/** The database of an `oncehook dev` that runs on this folder, or undefined. */
export async function findDevDatabase(devFolder: string): Promise<Target | undefined> {
  const found = await findServer(join(devFolder, FILES.data));
  const passwords = found && (await readPasswords(devFolder));
  if (!found || !passwords) return undefined;
  const server: DevServer = { urlFor: (database, login) => serverUrl(found, database, login) };
  return {
    url: ownerUrl(server, DATABASE, passwords),
    n8nUrl: n8nUrl(server, DATABASE, passwords),
    setting: 'the development database',
    name: `the development database (port ${found.port})`,
    keepsPassword: true,
  };
}

async function asSuperuser(server: DevServer, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = await connect(server.urlFor('postgres'), { setting: 'the development database' });
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
