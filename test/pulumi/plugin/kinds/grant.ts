import type { Database, Transaction } from '../connection.ts';
import { type Fields, setOrder, type Values } from '../fields.ts';
import { ownersOf, validatePrivileges } from '../privileges.ts';
import {
  databaseExists,
  ident,
  lockDatabase,
  lockRole,
  roleExists,
  schemaExists,
  withRoles,
  wrapped,
} from '../sql.ts';
import { readPrivileges } from './grant-read.ts';
import { flag, type Kind, list, text } from './kind.ts';

const types = ['database', 'function', 'procedure', 'routine', 'schema', 'sequence', 'table', 'column'];

const fields: Fields = {
  role: { type: 'string', forceNew: true },
  database: { type: 'string', forceNew: true },
  schema: { type: 'string', forceNew: true },
  objectType: {
    type: 'string',
    forceNew: true,
    refuse: (value) =>
      types.includes(value as string) ? undefined : `the stand-in does not implement ${value}`,
  },
  objects: { type: 'set', forceNew: true },
  columns: { type: 'set', forceNew: true },
  privileges: { type: 'set' },
  withGrantOption: { type: 'boolean', default: false, forceNew: true },
};

/** Of the real plugin's `resource_postgresql_grant.go`, without foreign servers. Grants of different roles race. */
export const grant: Kind = {
  args: 'GrantArgs',
  fields,
  deleteBeforeReplace: true,
  create: (db, plan) => write(db, plan, plan),

  async read(db, _id, state) {
    if (!(await targetExists(db, state))) return undefined;
    const txn = await db.begin(text(state, 'database'));
    try {
      return { id: idOf(state), state: await readPrivileges(db, txn, state) };
    } finally {
      await txn.rollback();
    }
  },

  async update(db, _id, olds, plan) {
    await write(db, olds, plan);
  },

  async delete(db, _id, state) {
    await change(db, state, async (txn) => {
      await wrapped('could not execute revoke query', txn.query(revokeStatement(state)));
    });
  },
};

async function write(db: Database, revoked: Values, plan: Values): Promise<string> {
  validate(plan);
  validatePrivileges(db, plan);
  await change(db, plan, async (txn) => {
    await wrapped('could not execute revoke query', txn.query(revokeStatement(revoked)));
    if (list(plan, 'privileges').length > 0) await txn.query(grantStatement(plan));
  });
  return idOf(plan);
}

async function change(
  db: Database,
  values: Values,
  work: (txn: Transaction) => Promise<void>,
): Promise<void> {
  const database = text(values, 'database');
  const txn = await db.begin(database);
  try {
    await lockRole(txn, text(values, 'role'));
    if (text(values, 'objectType') === 'database') await lockDatabase(txn, database);
    await withRoles(txn, await ownersOf(txn, values), () => work(txn));
    await txn.commit();
  } finally {
    await txn.rollback();
  }
}

/** Whether database, role and schema of a grant are there. */
export async function targetExists(db: Database, state: Values): Promise<boolean> {
  const database = text(state, 'database');
  if (!(await databaseExists(db, database))) return false;
  const txn = await db.begin(database);
  try {
    const role = text(state, 'role');
    if (role !== 'public' && !(await roleExists(txn, role))) return false;
    const schema = text(state, 'schema');
    return text(state, 'objectType') === 'database' || !schema || (await schemaExists(txn, schema));
  } finally {
    await txn.rollback();
  }
}

function validate(plan: Values): void {
  const type = text(plan, 'objectType');
  const count = (name: string) => list(plan, name).length;
  if (!text(plan, 'schema') && type !== 'database') {
    throw new Error("parameter 'schema' is mandatory for postgresql_grant resource");
  }
  if (count('objects') > 0 && (type === 'database' || type === 'schema')) {
    throw new Error('cannot specify `objects` when `object_type` is `database` or `schema`');
  }
  if (type !== 'column') {
    if (count('columns') > 0) {
      throw new Error('cannot specify `columns` when `object_type` is not `column`');
    }
    return;
  }
  if (count('columns') === 0) throw new Error('must specify `columns` when `object_type` is `column`');
  if (count('privileges') !== 1) {
    throw new Error('must specify exactly 1 `privileges` when `object_type` is `column`');
  }
  if (count('objects') !== 1) {
    throw new Error('must specify exactly 1 table in the `objects` field when `object_type` is `column`');
  }
}

/** What a grant is on, between ON and TO (or FROM). */
function target(values: Values): string {
  const type = text(values, 'objectType');
  const schema = ident(text(values, 'schema'));
  if (type === 'database') return `DATABASE ${ident(text(values, 'database'))}`;
  if (type === 'schema') return `SCHEMA ${schema}`;
  const objects = setOrder(list(values, 'objects')).map((object) => {
    const [name = '', ...args] = object.split('(');
    return `${schema}.${ident(name)}${args.length > 0 ? `(${args[0]}` : ''}`;
  });
  const word = type === 'column' ? 'TABLE' : type.toUpperCase();
  return objects.length > 0 ? `${word} ${objects.join(',')}` : `ALL ${word}S IN SCHEMA ${schema}`;
}

function grantStatement(values: Values): string {
  const option = flag(values, 'withGrantOption') ? ' WITH GRANT OPTION' : '';
  const privileges = setOrder(list(values, 'privileges')).join(',');
  return `GRANT ${privileges}${columnList(values)} ON ${target(values)} TO ${ident(text(values, 'role'))}${option}`;
}

function revokeStatement(values: Values): string {
  const type = text(values, 'objectType');
  const privileges = setOrder(list(values, 'privileges'));
  const from = `ON ${target(values)} FROM ${ident(text(values, 'role'))}`;
  if (type === 'column') {
    if (privileges.length === 0 || list(values, 'columns').length === 0) return 'SELECT NULL';
    return `REVOKE ${privileges.join(',')}${columnList(values)} ${from}`;
  }
  // Named objects lose these privileges alone, so that grants on columns stay.
  const named = list(values, 'objects').length > 0 && privileges.length > 0;
  return `REVOKE ${named ? privileges.join(',') : 'ALL PRIVILEGES'} ${from}`;
}

function columnList(values: Values): string {
  if (text(values, 'objectType') !== 'column') return '';
  return ` (${setOrder(list(values, 'columns')).map(ident).join(',')})`;
}

function idOf(values: Values): string {
  const type = text(values, 'objectType');
  return [
    text(values, 'role'),
    text(values, 'database'),
    ...(type === 'database' ? [] : [text(values, 'schema')]),
    type,
    ...setOrder(list(values, 'objects')),
    ...setOrder(list(values, 'columns')),
  ].join('_');
}
