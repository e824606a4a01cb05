import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { UserError } from '../errors.ts';
import { readTemplate } from '../templates.ts';
import { scramVerifier } from './scram.ts';

/** The role that n8n's credential names. */
export const N8N_ROLE = 'oncehook_n8n';

/** Pinned on the role, because the gate depends on them and n8n cannot set them. */
const SETTINGS: Readonly<Record<string, string>> = {
  default_transaction_isolation: 'read committed',
  lock_timeout: '2s',
  // n8n writes values into the statement's text, and quotes them as the standard says.
  standard_conforming_strings: 'on',
  statement_timeout: '20s',
  idle_in_transaction_session_timeout: '30s',
};

export interface RoleOptions {
  /** Left as it is where not given. */
  password?: string;
  /** Where the password came from, for messages: `ONCEHOOK_N8N_PASSWORD`. */
  setting?: string;
}

/** What `ensureN8nRole` changed. */
export interface RoleChange {
  created: boolean;
  /** The settings that were not as they should be. */
  settings: string[];
  passwordSet: boolean;
}

/**
 * Makes the role `oncehook_n8n` where it is missing, pins its settings, sets its password and grants it
 * what `templates/sql/oncehook_n8n.sql` says, in one transaction. Run after `migrate`, as the role that migrated. Where
 * everything is as it should be, only the password and the grants are written again.
 *
 * Throws UserError with the statements for an administrator where this role lacks CREATEROLE, or does not
 * administer a role that somebody else made.
 */
export async function ensureN8nRole(client: pg.ClientBase, options: RoleOptions = {}): Promise<RoleChange> {
  const verifier =
    options.password === undefined
      ? undefined
      : scramVerifier(options.password, options.setting ?? 'ONCEHOOK_N8N_PASSWORD');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(client, () => shape(client, verifier));
    } catch (error) {
      // Roles belong to the server, not to the database: another project's run may touch the same rows.
      if (attempt >= 10 || !isCollision(error)) throw error;
      await pause(20 * attempt + Math.random() * 50);
    }
  }
}

async function shape(client: pg.ClientBase, verifier: string | undefined): Promise<RoleChange> {
  const created = !(await exists(client));
  if (created) await asAdministrator(client, `CREATE ROLE ${N8N_ROLE} LOGIN`);
  const settings = await wrongSettings(client);
  for (const name of settings) {
    const value = pg.escapeLiteral(SETTINGS[name] ?? '');
    await asAdministrator(client, `ALTER ROLE ${N8N_ROLE} SET ${name} = ${value}`);
  }
  if (verifier !== undefined) {
    await asAdministrator(client, `ALTER ROLE ${N8N_ROLE} LOGIN PASSWORD ${pg.escapeLiteral(verifier)}`);
  }
  await client.query(readTemplate(`sql/${N8N_ROLE}.sql`));
  return { created, settings, passwordSet: verifier !== undefined };
}

async function exists(client: pg.ClientBase): Promise<boolean> {
  return (await client.query('SELECT FROM pg_roles WHERE rolname = $1', [N8N_ROLE])).rowCount === 1;
}

async function wrongSettings(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ setting: string }>(
    `SELECT unnest(s.setconfig) AS setting FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
     WHERE s.setdatabase = 0 AND r.rolname = $1`,
    [N8N_ROLE],
  );
  const found = new Set(rows.map(({ setting }) => setting));
  return Object.keys(SETTINGS).filter((name) => !found.has(`${name}=${SETTINGS[name]}`));
}

async function asAdministrator(client: pg.ClientBase, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '42501') throw error;
    const me = (await currentRole(client)) ?? 'the role that migrates';
    throw new UserError({
      message: `Role "${me}" may not make or change the role ${N8N_ROLE} (${(error as Error).message}).`,
      remedy: [
        'As an administrator of the server, once:',
        `  CREATE ROLE ${N8N_ROLE} LOGIN;  -- where it is missing`,
        `  GRANT ${N8N_ROLE} TO "${me}" WITH ADMIN OPTION;`,
        `  ALTER ROLE "${me}" CREATEROLE;`,
        'Or leave the password to the administrator and set these by hand:',
        ...Object.entries(SETTINGS).map(
          ([name, value]) => `  ALTER ROLE ${N8N_ROLE} SET ${name} = '${value}';`,
        ),
      ].join('\n'),
    });
  }
}

async function currentRole(client: pg.ClientBase): Promise<string | undefined> {
  // The failed statement aborted the transaction, and nothing was kept that would be lost.
  await client.query('ROLLBACK');
  return (await client.query<{ role: string }>('SELECT current_user AS role')).rows[0]?.role;
}

async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** `tuple concurrently updated`, a role that another run has just made, and a deadlock between two runs. */
function isCollision(error: unknown): boolean {
  const { code, message = '' } = error as pg.DatabaseError;
  return (
    (code === 'XX000' && message.includes('concurrently')) || ['42710', '23505', '40P01'].includes(code ?? '')
  );
}
