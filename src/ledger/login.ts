import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { UserError } from '../errors.ts';

/** What a role of Oncehook's should be like; the role itself is there. */
export interface LoginShape {
  role: string;
  /** Pinned on the role, as `pg_db_role_setting` holds them. */
  settings: Readonly<Record<string, string>>;
  /** A SCRAM verifier; the password is left as it is where not given. */
  verifier?: string | undefined;
}

/**
 * Pins settings on a role and sets its password, as a role that may administer it. Returns the settings that were
 * not as they should be.
 *
 * Throws UserError with the statements for an administrator where this session's role may not.
 */
export async function shapeLogin(client: pg.ClientBase, shape: LoginShape): Promise<string[]> {
  const { role, settings, verifier } = shape;
  const name = pg.escapeIdentifier(role);
  const wrong = await wrongSettings(client, shape);
  for (const setting of wrong) {
    const value = pg.escapeLiteral(settings[setting] ?? '');
    await asAdministrator(client, shape, `ALTER ROLE ${name} SET ${setting} = ${value}`);
  }
  if (verifier !== undefined) {
    await asAdministrator(client, shape, `ALTER ROLE ${name} LOGIN PASSWORD ${pg.escapeLiteral(verifier)}`);
  }
  return wrong;
}

/**
 * Pins settings on the role that this session logged in as, for this database: a role may do that to itself where
 * nobody here administers it. Returns the settings that were not as they should be.
 */
export async function pinOwnSettings(
  client: pg.ClientBase,
  settings: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string; setting: string; pinned: boolean; database: string }>(
    `SELECT name, setting, source IN ('user', 'database user') AS pinned, current_database()::text AS database
     FROM pg_settings WHERE name = ANY ($1::text[])`,
    [Object.keys(settings)],
  );
  const wrong = rows.filter(({ name, setting, pinned }) => !pinned || setting !== settings[name]);
  for (const { name, database } of wrong) {
    const value = pg.escapeLiteral(settings[name] ?? '');
    await client.query(
      `ALTER ROLE CURRENT_USER IN DATABASE ${pg.escapeIdentifier(database)} SET ${name} = ${value}`,
    );
  }
  return wrong.map(({ name }) => name);
}

/** Runs a statement that only an administrator of the role may; see `shapeLogin`. */
export async function asAdministrator(
  client: pg.ClientBase,
  { role, settings }: LoginShape,
  statement: string,
): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '42501') throw error;
    const me = (await currentRole(client)) ?? 'the role that migrates';
    throw new UserError({
      message: `Role "${me}" may not make or change the role ${role} (${(error as Error).message}).`,
      remedy: [
        'As an administrator of the server, once:',
        `  CREATE ROLE ${role} LOGIN;  -- where it is missing`,
        `  GRANT ${role} TO "${me}" WITH ADMIN OPTION;`,
        `  ALTER ROLE "${me}" CREATEROLE;`,
        'Or leave the password to the administrator and set these by hand:',
        ...Object.entries(settings).map(([name, value]) => `  ALTER ROLE ${role} SET ${name} = '${value}';`),
      ].join('\n'),
    });
  }
}

/**
 * Runs work in a transaction, and again where it met somebody else's: roles belong to the server and not to the
 * database, so that another project's run may touch the same rows.
 */
export async function withoutCollision<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(client, work);
    } catch (error) {
      if (attempt >= 10 || !isCollision(error)) throw error;
      await pause(20 * attempt + Math.random() * 50);
    }
  }
}

async function wrongSettings(client: pg.ClientBase, { role, settings }: LoginShape): Promise<string[]> {
  const { rows } = await client.query<{ setting: string }>(
    `SELECT unnest(s.setconfig) AS setting FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
     WHERE s.setdatabase = 0 AND r.rolname = $1`,
    [role],
  );
  const found = new Set(rows.map(({ setting }) => setting));
  return Object.keys(settings).filter((name) => !found.has(`${name}=${settings[name]}`));
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
