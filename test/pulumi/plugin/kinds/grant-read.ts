import type { Database, Runner } from '../connection.ts';
import { sameSet, setOrder, type Values } from '../fields.ts';
import { objectKinds, privilegesEqual } from '../privileges.ts';
import { roleOid } from '../sql.ts';
import { list, text } from './kind.ts';

/** What the server has of a grant: the state, with privileges (or columns) replaced where they differ. */
export async function readPrivileges(db: Database, txn: Runner, state: Values): Promise<Values> {
  if (text(state, 'objectType') === 'column') return readColumns(txn, state);
  const wanted = list(state, 'objects');
  for (const { name, privileges } of await granted(txn, state)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    // One object with other privileges is enough to bring an update about.
    if (!privilegesEqual(db, privileges, state)) return { ...state, privileges: setOrder(privileges) };
  }
  return state;
}

async function granted(txn: Runner, state: Values): Promise<{ name: string; privileges: string[] }[]> {
  const oid = await roleOid(txn, text(state, 'role'));
  const schema = text(state, 'schema');
  const type = text(state, 'objectType');
  const [sql, values] = ((): [string, unknown[]] => {
    switch (type) {
      case 'database':
        return [ofOne('datacl', 'pg_database', 'datname'), [text(state, 'database'), oid]];
      case 'schema':
        return [ofOne('nspacl', 'pg_namespace', 'nspname'), [schema, oid]];
      case 'function':
      case 'procedure':
      case 'routine':
        return [FUNCTIONS, [oid, schema]];
      default:
        return [RELATIONS, [oid, schema, objectKinds[type]]];
    }
  })();
  return (await txn.query(sql, values)).rows;
}

const ofOne = (acl: string, table: string, name: string) =>
  `SELECT $1::text AS name, COALESCE(array_agg(privilege_type), '{}') AS privileges
   FROM (SELECT (aclexplode(${acl})).* FROM ${table} WHERE ${name} = $1) AS privileges WHERE grantee = $2`;

const FUNCTIONS = `
SELECT pg_proc.proname AS name, array_remove(array_agg(privilege_type), NULL) AS privileges
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pg_proc.pronamespace
LEFT JOIN (
  SELECT acls.* FROM (SELECT proname, pronamespace, (aclexplode(proacl)).* FROM pg_proc) acls WHERE grantee = $1
) privs USING (proname, pronamespace)
WHERE nspname = $2 GROUP BY pg_proc.proname`;

const RELATIONS = `
SELECT pg_class.relname AS name, array_remove(array_agg(privilege_type), NULL) AS privileges
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
LEFT JOIN (
  SELECT acls.* FROM (SELECT relname, relnamespace, relkind, (aclexplode(relacl)).* FROM pg_class c) AS acls WHERE grantee = $1
) privs USING (relname, relnamespace, relkind)
WHERE nspname = $2 AND relkind = $3 GROUP BY pg_class.relname`;

const COLUMNS = `
SELECT attname AS name, array_agg(privilege_type) AS privileges
FROM (
  SELECT relname, attname, (aclexplode(attacl)).* FROM pg_class
  JOIN pg_namespace ON pg_class.relnamespace = pg_namespace.oid JOIN pg_attribute ON pg_class.oid = attrelid
  WHERE nspname = $2 AND relname = $3 AND relkind = 'r'
) AS col_privs JOIN pg_roles ON pg_roles.oid = col_privs.grantee
WHERE rolname = $1 AND privilege_type = $4
GROUP BY attname, privilege_type ORDER BY attname`;

async function readColumns(txn: Runner, state: Values): Promise<Values> {
  const privileges = list(state, 'privileges');
  const { rows } = await txn.query(COLUMNS, [
    text(state, 'role'),
    text(state, 'schema'),
    list(state, 'objects')[0],
    setOrder(privileges)[0],
  ]);
  const missing = new Set(list(state, 'columns'));
  const read = { ...state };
  for (const row of rows as { name: string; privileges: string[] }[]) {
    missing.delete(row.name);
    if (!sameSet(row.privileges, privileges)) {
      read['privileges'] = setOrder(row.privileges);
      break;
    }
  }
  if (missing.size > 0) read['columns'] = list(state, 'columns').filter((name) => !missing.has(name));
  return read;
}
