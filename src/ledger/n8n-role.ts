import type pg from 'pg';
import { readTemplate } from '../templates.ts';
import { asAdministrator, shapeLogin, withoutCollision } from './login.ts';
import { scramVerifier } from './scram.ts';

/** The role that n8n's credential names. */
export const N8N_ROLE = 'oncehook_n8n';

/**
 * Pinned on the role, because the gate depends on them and n8n cannot set them. Times are in milliseconds without
 * a unit: Pulumi's Postgres provider can read no other form.
 */
export const N8N_SETTINGS = {
  default_transaction_isolation: 'read committed',
  lock_timeout: '2000',
  // n8n writes values into the statement's text, and quotes them as the standard says.
  standard_conforming_strings: 'on',
  statement_timeout: '20000',
  idle_in_transaction_session_timeout: '30000',
} as const satisfies Readonly<Record<string, string>>;

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
  const shape = { role: N8N_ROLE, settings: N8N_SETTINGS, verifier };
  return withoutCollision(client, async () => {
    const created = !(await n8nRoleExists(client));
    if (created) await asAdministrator(client, shape, `CREATE ROLE ${N8N_ROLE} LOGIN`);
    const settings = await shapeLogin(client, shape);
    await client.query(grants(true));
    return { created, settings, passwordSet: verifier !== undefined };
  });
}

/**
 * Grants `oncehook_n8n` what it may do, and takes from PUBLIC what it must not, as the schema's owner and after
 * `migrate`. `role` says whether there is such a role at all: without it, only PUBLIC's rights are taken.
 */
export async function grantN8nRights(client: pg.ClientBase, { role }: { role: boolean }): Promise<void> {
  await withoutCollision(client, () => client.query(grants(role)));
}

/** The statements of `grantN8nRights`, of which its digest is made. */
export function grants(role: boolean): string {
  const files = role ? ['oncehook_public', N8N_ROLE] : ['oncehook_public'];
  return files.map((file) => readTemplate(`sql/${file}.sql`)).join('\n');
}

/** Whether the server has the role. */
export async function n8nRoleExists(client: pg.ClientBase): Promise<boolean> {
  return (await client.query('SELECT FROM pg_roles WHERE rolname = $1', [N8N_ROLE])).rowCount === 1;
}
