import type { Database, Transaction } from '../connection.ts';
import type { Fields, Values } from '../fields.ts';
import { ident, wrapped } from '../sql.ts';
import { flag, type Kind, text } from './kind.ts';

const fields: Fields = {
  role: { type: 'string', forceNew: true },
  grantRole: { type: 'string', forceNew: true },
  withAdminOption: { type: 'boolean', default: false, forceNew: true },
};

/** Of the real plugin's `resource_postgresql_grant_role.go`. */
export const grantRole: Kind = {
  args: 'GrantRoleArgs',
  fields,

  async create(db, plan) {
    await inTransaction(db, async (txn) => {
      await revoke(txn, plan);
      const option = flag(plan, 'withAdminOption') ? ' WITH ADMIN OPTION' : '';
      const sql = `GRANT ${ident(text(plan, 'grantRole'))} TO ${ident(text(plan, 'role'))}${option}`;
      await wrapped('could not execute grant query', txn.query(sql));
    });
    return idOf(plan);
  },

  async read(db, _id, state) {
    const { rows } = await db.query(
      `SELECT pg_get_userbyid(member) AS role, pg_get_userbyid(roleid) AS grant_role, admin_option FROM pg_auth_members
       WHERE pg_get_userbyid(member) = $1 AND pg_get_userbyid(roleid) = $2`,
      [text(state, 'role'), text(state, 'grantRole')],
    );
    const [row] = rows;
    if (!row) return undefined;
    const found = { role: row.role, grantRole: row.grant_role, withAdminOption: row.admin_option };
    return { id: idOf(found), state: found };
  },

  async delete(db, _id, state) {
    await inTransaction(db, (txn) => revoke(txn, state));
  },
};

async function revoke(txn: Transaction, values: Values): Promise<void> {
  const sql = `REVOKE ${ident(text(values, 'grantRole'))} FROM ${ident(text(values, 'role'))}`;
  await wrapped('could not execute revoke query', txn.query(sql));
}

async function inTransaction(db: Database, work: (txn: Transaction) => Promise<void>): Promise<void> {
  const txn = await db.begin();
  try {
    await work(txn);
    await txn.commit();
  } finally {
    await txn.rollback();
  }
}

function idOf(values: Values): string {
  return [text(values, 'role'), text(values, 'grantRole'), flag(values, 'withAdminOption')].join('_');
}
