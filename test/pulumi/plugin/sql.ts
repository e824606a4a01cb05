import type { Runner } from './connection.ts';

export function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string literal, quoted as the real plugin does it (backslashes doubled as well). */
export function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

export async function exists(db: Runner, sql: string, value: string): Promise<boolean> {
  return (await db.query(sql, [value])).rowCount === 1;
}

export const roleExists = (db: Runner, name: string): Promise<boolean> =>
  exists(db, 'SELECT 1 FROM pg_roles WHERE rolname=$1', name);
export const databaseExists = (db: Runner, name: string): Promise<boolean> =>
  exists(db, 'SELECT datname FROM pg_database WHERE datname=$1', name);
export const schemaExists = (db: Runner, name: string): Promise<boolean> =>
  exists(db, 'SELECT 1 FROM pg_namespace WHERE nspname=$1', name);

/** The oid of a role; 0 stands for PUBLIC. */
export async function roleOid(db: Runner, name: string): Promise<number> {
  if (name === 'public') return 0;
  const { rows } = await db.query('SELECT oid FROM pg_roles WHERE rolname = $1', [name]);
  if (rows.length === 0) throw new Error(`could not find oid for role ${name}: sql: no rows in result set`);
  return rows[0].oid as number;
}

/** Keeps others from changing the role and its members until the transaction ends. */
export async function lockRole(txn: Runner, role: string): Promise<void> {
  await txn.query('SET statement_timeout = 0');
  await txn.query('SELECT pg_advisory_xact_lock(oid::bigint) FROM pg_roles WHERE rolname = $1', [role]);
  await txn.query(
    'SELECT pg_advisory_xact_lock(member::bigint) FROM pg_auth_members JOIN pg_roles ON roleid = pg_roles.oid WHERE rolname = $1',
    [role],
  );
}

export async function lockDatabase(txn: Runner, database: string): Promise<void> {
  await txn.query('SET statement_timeout = 0');
  await txn.query('SELECT pg_advisory_xact_lock(oid::bigint) FROM pg_database WHERE datname = $1', [
    database,
  ]);
}

export async function isSuperuser(db: Runner, role: string): Promise<boolean> {
  const { rows } = await db.query('SELECT rolsuper FROM pg_roles WHERE rolname = $1', [role]);
  if (rows.length === 0) {
    throw new Error(`could not check if role ${role} is superuser: sql: no rows in result set`);
  }
  return rows[0].rolsuper as boolean;
}

async function isMember(db: Runner, role: string, member: string): Promise<boolean> {
  const option = await db.query(
    "SELECT 1 FROM information_schema.columns WHERE table_name='pg_auth_members' AND column_name = 'set_option'",
  );
  const sql = `SELECT 1 FROM pg_auth_members WHERE pg_get_userbyid(roleid) = $1 AND pg_get_userbyid(member) = $2${
    option.rowCount ? ' AND set_option' : ''
  }`;
  return Boolean((await db.query(sql, [role, member])).rowCount);
}

/** Whether the membership was missing and is there now. */
export async function grantMembership(db: Runner, role: string, member: string): Promise<boolean> {
  if (member === role || (await isMember(db, role, member))) return false;
  await wrapped(
    `error granting role ${role} to ${member}`,
    db.query(`GRANT ${ident(role)} TO ${ident(member)}`),
  );
  return true;
}

/** Whether the membership was there and is gone now. */
export async function revokeMembership(db: Runner, role: string, member: string): Promise<boolean> {
  if (member === role || !(await isMember(db, role, member))) return false;
  await wrapped(
    `error revoking role ${role} from ${member}`,
    db.query(`REVOKE ${ident(role)} FROM ${ident(member)}`),
  );
  return true;
}

/** Runs the work while the connected role is a member of these, which an admin who is no superuser must be. */
export async function withRoles(
  txn: Runner,
  roles: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  if (roles.length === 0) return work();
  const me = (await txn.query('SELECT CURRENT_USER AS me')).rows[0].me as string;
  if (await isSuperuser(txn, me)) return work();
  const granted: string[] = [];
  const revoked: string[] = [];
  for (const role of roles) {
    if (await isSuperuser(txn, role)) continue;
    // Two roles cannot be members of each other.
    if (await revokeMembership(txn, me, role)) revoked.push(role);
    if (await grantMembership(txn, role, me)) granted.push(role);
  }
  await work();
  for (const role of granted) await revokeMembership(txn, role, me);
  for (const role of revoked) if (await roleExists(txn, role)) await grantMembership(txn, me, role);
}

/** Puts words before the error of a statement. */
export async function wrapped<T>(words: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${words}: ${(error as Error).message}`);
  }
}
