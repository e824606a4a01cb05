import { createHash } from 'node:crypto';
import type { Database, Runner } from '../connection.ts';
import { type Fields, setOrder, type Value, type Values } from '../fields.ts';
import { ident, isSuperuser, literal, lockRole, withRoles, wrapped } from '../sql.ts';
import { flag, type Kind, list, number, text } from './kind.ts';
import { readSettings, setAssumedRole, setSearchPath, setTimeouts } from './role-settings.ts';

const atLeast = (least: number) => (value: Value) =>
  (value as number) < least ? `expected at least ${least}, got ${value}` : undefined;

const fields: Fields = {
  name: { type: 'string' },
  password: { type: 'string', secret: true },
  roles: { type: 'set' },
  searchPaths: { type: 'list' },
  encryptedPassword: { type: 'boolean', default: true },
  validUntil: { type: 'string', default: 'infinity' },
  connectionLimit: { type: 'number', default: -1, refuse: atLeast(-1) },
  superuser: { type: 'boolean', default: false },
  createDatabase: { type: 'boolean', default: false },
  createRole: { type: 'boolean', default: false },
  idleInTransactionSessionTimeout: { type: 'number', refuse: atLeast(0) },
  inherit: { type: 'boolean', default: true },
  login: { type: 'boolean', default: false },
  replication: { type: 'boolean', default: false },
  bypassRowLevelSecurity: { type: 'boolean', default: false },
  skipDropRole: { type: 'boolean', default: false },
  skipReassignOwned: { type: 'boolean', default: false },
  statementTimeout: { type: 'number', refuse: atLeast(0) },
  assumeRole: { type: 'string' },
};

/** Property, word that switches it on, column of `pg_roles`; in the order in which changes are made. */
const attributes = [
  ['bypassRowLevelSecurity', 'BYPASSRLS', 'rolbypassrls'],
  ['createDatabase', 'CREATEDB', 'rolcreatedb'],
  ['createRole', 'CREATEROLE', 'rolcreaterole'],
  ['inherit', 'INHERIT', 'rolinherit'],
  ['login', 'LOGIN', 'rolcanlogin'],
  ['replication', 'REPLICATION', 'rolreplication'],
  ['superuser', 'SUPERUSER', 'rolsuper'],
] as const;

/** Of the real plugin's `resource_postgresql_role.go`, without the write-only password. */
export const role: Kind = {
  args: 'RoleArgs',
  fields,
  required: ['name'],
  importable: true,

  async create(db, plan) {
    const name = text(plan, 'name');
    const txn = await db.begin();
    try {
      await wrapped(
        `error creating role ${name}`,
        txn.query(`CREATE ROLE ${ident(name)} WITH ${options(plan)}`),
      );
      await grantRoles(txn, name, plan);
      await setSearchPath(txn, name, plan);
      await setTimeouts(txn, name, {}, plan);
      await setAssumedRole(txn, name, {}, plan);
      await txn.commit();
    } finally {
      await txn.rollback();
    }
    return name;
  },

  async read(db, id, state) {
    const columns = attributes.map(([, , column]) => column).join(', ');
    const { rows } = await db.query(
      `SELECT rolname, rolconnlimit, COALESCE(rolvaliduntil::TEXT, 'infinity') AS until, rolconfig, ${columns}, ARRAY(
         SELECT pg_get_userbyid(roleid) FROM pg_catalog.pg_auth_members members WHERE member = pg_roles.oid)::text[] AS roles
       FROM pg_catalog.pg_roles WHERE rolname=$1`,
      [id],
    );
    const [row] = rows;
    if (!row) return undefined;
    const found: Values = {
      ...state,
      name: row.rolname,
      connectionLimit: row.rolconnlimit,
      validUntil: row.until,
      encryptedPassword: true,
      skipDropRole: flag(state, 'skipDropRole'),
      skipReassignOwned: flag(state, 'skipReassignOwned'),
      roles: setOrder(row.roles),
      ...readSettings(row.rolconfig ?? []),
    };
    for (const [property, , column] of attributes) found[property] = row[column];
    if (text(state, 'password')) found['password'] = await readPassword(db, id, found);
    return { id: row.rolname, state: found };
  },

  async update(db, _id, olds, plan) {
    const [old, name] = [text(olds, 'name'), text(plan, 'name')];
    const txn = await db.begin();
    try {
      await lockRole(txn, old);
      for (const statement of changes(olds, plan)) {
        await wrapped(`error updating role ${name}`, txn.query(statement));
      }
      await revokeRoles(txn, name);
      await grantRoles(txn, name, plan);
      await setSearchPath(txn, name, plan);
      await setTimeouts(txn, name, olds, plan);
      await setAssumedRole(txn, name, olds, plan);
      await txn.commit();
    } finally {
      await txn.rollback();
    }
  },

  async delete(db, _id, state) {
    const name = text(state, 'name');
    const me = db.settings.currentUser;
    const txn = await db.begin();
    try {
      await lockRole(txn, name);
      if (!flag(state, 'skipReassignOwned')) {
        await withRoles(txn, [name], async () => {
          const reassign = `REASSIGN OWNED BY ${ident(name)} TO ${ident(me)}`;
          await wrapped(`could not reassign owned by role ${name} to ${me}`, txn.query(reassign));
          const drop = `DROP OWNED BY ${ident(name)}`;
          await wrapped(`could not drop owned by role ${name}`, txn.query(drop));
        });
      }
      if (!flag(state, 'skipDropRole')) {
        await wrapped(`could not delete role ${name}`, txn.query(`DROP ROLE ${ident(name)}`));
      }
      await txn.commit();
    } finally {
      await txn.rollback();
    }
  },
};

function options(plan: Values): string {
  const password = text(plan, 'password');
  const encrypted = flag(plan, 'encryptedPassword') ? 'ENCRYPTED' : 'UNENCRYPTED';
  const until = text(plan, 'validUntil');
  return [
    ...(password.toUpperCase() === 'NULL' ? ['PASSWORD NULL'] : []),
    ...(password && password.toUpperCase() !== 'NULL' ? [`${encrypted} PASSWORD ${literal(password)}`] : []),
    ...(until ? [`VALID UNTIL ${literal(until.toLowerCase() === 'infinity' ? 'infinity' : until)}`] : []),
    `CONNECTION LIMIT ${number(plan, 'connectionLimit')}`,
    ...attributes.map(([property, word]) => (flag(plan, property) ? word : `NO${word}`)),
  ].join(' ');
}

/** The statements of an update, in the real plugin's order. */
function* changes(olds: Values, plan: Values): Generator<string> {
  const [old, name] = [text(olds, 'name'), text(plan, 'name')];
  const [password, until] = [text(plan, 'password'), text(plan, 'validUntil')];
  const alter = `ALTER ROLE ${ident(name)}`;
  if (old !== name) yield `ALTER ROLE ${ident(old)} RENAME TO ${ident(name)}`;
  if (password && (password !== text(olds, 'password') || old !== name)) {
    yield `${alter} PASSWORD ${literal(password)}`;
  }
  if (number(olds, 'connectionLimit') !== number(plan, 'connectionLimit')) {
    yield `${alter} CONNECTION LIMIT ${number(plan, 'connectionLimit')}`;
  }
  for (const [property, word] of attributes) {
    if (flag(olds, property) !== flag(plan, property)) {
      yield `${alter} WITH ${flag(plan, property) ? word : `NO${word}`}`;
    }
  }
  if (until && until !== text(olds, 'validUntil')) yield `${alter} VALID UNTIL ${literal(until)}`;
}

async function grantRoles(txn: Runner, name: string, plan: Values): Promise<void> {
  for (const granted of setOrder(list(plan, 'roles'))) {
    await wrapped(
      `could not grant role ${granted} to ${name}`,
      txn.query(`GRANT ${ident(granted)} TO ${ident(name)}`),
    );
  }
}

/** Every update takes all memberships away first, whoever granted them. */
async function revokeRoles(txn: Runner, name: string): Promise<void> {
  const { rows } = await txn.query(
    `SELECT pg_get_userbyid(roleid) AS granted FROM pg_catalog.pg_auth_members members
     JOIN pg_catalog.pg_roles ON members.member = pg_roles.oid WHERE rolname = $1`,
    [name],
  );
  for (const { granted } of rows as { granted: string }[]) {
    await wrapped(
      `could not revoke role ${granted} from ${name}`,
      txn.query(`REVOKE ${ident(granted)} FROM ${ident(name)}`),
    );
  }
}

/** The password in the state, unless a superuser can read that the server has another one. */
async function readPassword(db: Database, name: string, state: Values): Promise<string> {
  const known = text(state, 'password');
  const { superuser, currentUser } = db.settings;
  if (!flag(state, 'login') || !superuser) return known;
  if (!(await isSuperuser(db, currentUser))) {
    throw new Error(
      `could not read role password from Postgres as connected user ${currentUser} is not a SUPERUSER. You can set \`superuser = false\` in the provider configuration so it will not try to read the password from Postgres`,
    );
  }
  const { rows } = await db.query(
    "SELECT COALESCE(passwd, '') AS passwd FROM pg_catalog.pg_shadow AS s WHERE s.usename = $1",
    [name],
  );
  const stored = (rows[0]?.passwd ?? '') as string;
  if (!known || /^(md5|SCRAM-SHA-256)/.test(known)) return stored;
  const md5 = `md5${createHash('md5')
    .update(known + name)
    .digest('hex')}`;
  return stored === md5 || stored.startsWith('SCRAM-SHA-256') ? known : stored;
}
