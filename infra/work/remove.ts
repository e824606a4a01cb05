import type pg from 'pg';
import { UserError } from '../../src/errors.ts';
import { connect } from '../../src/ledger/connect.ts';
import { N8N_ROLE } from '../../src/ledger/n8n-role.ts';
import { SETTING, tell } from './tell.ts';

/** What there is to remove, and who may do it. */
export interface Removal {
  /** The address by which the schema's owner connects. */
  connection: string;
  /** The address by which n8n connects. */
  n8nConnection: string;
  /** The owner also owns the database. */
  exclusive: boolean;
}

/**
 * Drops the schema with everything in it, and ends n8n's sessions before: they would hold the tables, and the database
 * that may go next.
 * @throws UserError where somebody else holds the tables.
 */
export async function removeSchema({ connection, n8nConnection, exclusive }: Removal): Promise<void> {
  const client = await connect(connection, { setting: SETTING });
  try {
    await endSessions(client, n8nConnection, exclusive);
    await client.query("SET lock_timeout = '5s'");
    await client.query('DROP SCHEMA IF EXISTS oncehook CASCADE');
    tell('The schema oncehook is gone, with everything that it held.');
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '55P03') throw error;
    throw new UserError({
      message: 'The tables of the schema oncehook are in use.',
      remedy: 'End the sessions that pg_stat_activity shows, then run this again.',
    });
  } finally {
    await client.end();
  }
}

/** Only n8n's role itself may end its sessions, and only the database's owner can keep new ones out. */
async function endSessions(owner: pg.Client, n8nConnection: string, exclusive: boolean): Promise<void> {
  if (decodeURIComponent(new URL(n8nConnection).username) !== N8N_ROLE) return;
  const n8n = await connect(n8nConnection, { setting: SETTING }).catch((error: unknown) => {
    // It may not connect (any more): a run before this one was here already.
    if (error instanceof UserError) return undefined;
    throw error;
  });
  if (!n8n) return;
  try {
    if (exclusive) {
      const { rows } = await owner.query<{ sql: string }>(
        `SELECT format('REVOKE CONNECT ON DATABASE %I FROM ${N8N_ROLE}', current_database()) AS sql`,
      );
      await owner.query(rows[0]?.sql ?? '');
    }
    await n8n.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()`,
    );
  } finally {
    await n8n.end();
  }
}
