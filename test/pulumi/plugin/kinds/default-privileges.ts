import type { Database, Runner, Transaction } from '../connection.ts';
import { type Fields, setOrder, type Values } from '../fields.ts';
import { objectKinds, privilegesEqual, validatePrivileges } from '../privileges.ts';
import { ident, lockRole, roleOid, withRoles, wrapped } from '../sql.ts';
import { targetExists } from './grant.ts';
import { flag, type Kind, list, text } from './kind.ts';

const fields: Fields = {
  role: { type: 'string', forceNew: true },
  database: { type: 'string', forceNew: true },
  owner: { type: 'string', forceNew: true },
  schema: { type: 'string', forceNew: true },
  objectType: {
    type: 'string',
    forceNew: true,
    refuse: (value) =>
      Object.hasOwn(objectKinds, value as string) ? undefined : `there are no default privileges on ${value}`,
  },
  privileges: { type: 'set' },
  withGrantOption: { type: 'boolean', default: false, forceNew: true },
};

/** Of the real plugin's `resource_postgresql_default_privileges.go`. */
export const defaultPrivileges: Kind = {
  args: 'DefaultPrivilegesArgs',
  fields,
  create: write,

  async read(db, _id, state) {
    if (!(await targetExists(db, state))) return undefined;
    const txn = await db.begin(text(state, 'database'));
    try {
      await lockRole(txn, text(state, 'owner'));
      const granted = await readGranted(txn, state);
      if (granted.length === 0 && list(state, 'privileges').length > 0) return undefined;
      const privileges = privilegesEqual(db, granted, state) ? list(state, 'privileges') : setOrder(granted);
      return { id: idOf(state), state: { ...state, privileges } };
    } finally {
      await txn.rollback();
    }
  },

  async update(db, _id, _olds, plan) {
    await write(db, plan);
  },

  async delete(db, _id, state) {
    await change(db, state, (txn) => revoke(txn, state));
  },
};

async function write(db: Database, plan: Values): Promise<string> {
  if (text(plan, 'schema') && text(plan, 'objectType') === 'schema') {
    throw new Error('cannot specify `schema` when `object_type` is `schema`');
  }
  if (flag(plan, 'withGrantOption') && text(plan, 'role').toLowerCase() === 'public') {
    throw new Error("with_grant_option cannot be true for role 'public'");
  }
  validatePrivileges(db, plan);
  await change(db, plan, async (txn) => {
    await revoke(txn, plan);
    const privileges = setOrder(list(plan, 'privileges'));
    if (privileges.length === 0) return;
    const option = flag(plan, 'withGrantOption') ? ' WITH GRANT OPTION' : '';
    const sql = `${alter(plan)} GRANT ${privileges.join(',')} ON ${objects(plan)} TO ${ident(text(plan, 'role'))}${option}`;
    await wrapped('could not alter default privileges', txn.query(sql));
  });
  return idOf(plan);
}

async function change(
  db: Database,
  values: Values,
  work: (txn: Transaction) => Promise<void>,
): Promise<void> {
  const owner = text(values, 'owner');
  const txn = await db.begin(text(values, 'database'));
  try {
    await lockRole(txn, owner);
    await withRoles(txn, [owner], () => work(txn));
    await txn.commit();
  } finally {
    await txn.rollback();
  }
}

async function revoke(txn: Runner, values: Values): Promise<void> {
  const sql = `${alter(values)} REVOKE ALL ON ${objects(values)} FROM ${ident(text(values, 'role'))}`;
  await wrapped('could not revoke default privileges', txn.query(sql));
}

function alter(values: Values): string {
  const schema = text(values, 'schema');
  return `ALTER DEFAULT PRIVILEGES FOR ROLE ${ident(text(values, 'owner'))} ${schema ? `IN SCHEMA ${ident(schema)}` : ''}`;
}

function objects(values: Values): string {
  return `${text(values, 'objectType').toUpperCase()}S`;
}

async function readGranted(txn: Runner, state: Values): Promise<string[]> {
  const schema = text(state, 'schema');
  const where = schema
    ? 'namespace = (SELECT oid FROM pg_namespace WHERE nspname = $4)'
    : "namespace = 0 AND $4 = ''";
  const { rows } = await txn.query(
    `SELECT COALESCE(array_agg(prtype), '{}') AS privileges FROM (
       SELECT defaclnamespace, (aclexplode(defaclacl)).* FROM pg_default_acl WHERE defaclobjtype = $1
     ) AS t (namespace, grantor_oid, grantee_oid, prtype, grantable)
     WHERE grantee_oid = $2 AND pg_get_userbyid(grantor_oid) = $3 AND ${where}`,
    [
      objectKinds[text(state, 'objectType')],
      await roleOid(txn, text(state, 'role')),
      text(state, 'owner'),
      schema,
    ],
  );
  return rows[0].privileges as string[];
}

function idOf(values: Values): string {
  return [
    text(values, 'role'),
    text(values, 'database'),
    text(values, 'schema') || 'noschema',
    text(values, 'owner'),
    text(values, 'objectType'),
  ].join('_');
}
