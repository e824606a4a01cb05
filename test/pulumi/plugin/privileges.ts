import type { Database, Runner } from './connection.ts';
import { sameSet, type Values } from './fields.ts';
import { list, text } from './kinds/kind.ts';

/** What can be granted on each type of object. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  database: ['ALL', 'CREATE', 'CONNECT', 'TEMPORARY'],
  table: ['ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'],
  sequence: ['ALL', 'USAGE', 'SELECT', 'UPDATE'],
  schema: ['ALL', 'CREATE', 'USAGE'],
  function: ['ALL', 'EXECUTE'],
  procedure: ['ALL', 'EXECUTE'],
  routine: ['ALL', 'EXECUTE'],
  type: ['ALL', 'USAGE'],
  column: ['ALL', 'SELECT', 'INSERT', 'UPDATE', 'REFERENCES'],
};

/** `relkind` and `defaclobjtype` of each type of object. */
export const objectKinds: Readonly<Record<string, string>> = {
  table: 'r',
  sequence: 'S',
  function: 'f',
  routine: 'f',
  type: 'T',
  schema: 'n',
};

function allowedOn(db: Database, type: string): readonly string[] {
  const base = allowed[type];
  if (!base) throw new Error(`unknown object type ${type}`);
  return type === 'table' && db.major >= 17 ? [...base, 'MAINTAIN'] : base;
}

export function validatePrivileges(db: Database, plan: Values): void {
  const type = text(plan, 'objectType');
  for (const privilege of list(plan, 'privileges')) {
    if (!allowedOn(db, type).includes(privilege)) {
      throw new Error(`${privilege} is not an allowed privilege for object type ${type}`);
    }
  }
}

/** Whether the server's privileges are those of the program; `ALL` means every one. */
export function privilegesEqual(db: Database, granted: readonly string[], values: Values): boolean {
  const wanted = list(values, 'privileges');
  if (sameSet(granted, wanted)) return true;
  if (!wanted.includes('ALL')) return false;
  return sameSet(
    granted,
    allowedOn(db, text(values, 'objectType')).filter((privilege) => privilege !== 'ALL'),
  );
}

/** The roles that own a schema and its tables, which an admin must be a member of to grant on them. */
export async function ownersOf(txn: Runner, values: Values): Promise<string[]> {
  const type = text(values, 'objectType');
  if (type === 'database') return [];
  const schema = text(values, 'schema');
  const owners =
    type === 'schema'
      ? []
      : column(
          await txn.query('SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE schemaname = $1', [
            schema,
          ]),
        );
  const [schemaOwner] = column(
    await txn.query(
      'SELECT rolname AS owner FROM pg_namespace JOIN pg_roles ON nspowner = pg_roles.oid WHERE nspname = $1',
      [schema],
    ),
  );
  if (schemaOwner === undefined) {
    throw new Error(`could not find schema '${schema}' while looking for owner`);
  }
  if (!owners.includes(schemaOwner)) owners.push(schemaOwner);
  const [databaseOwner = ''] = column(
    await txn.query(
      'SELECT rolname AS owner FROM pg_database JOIN pg_roles ON datdba = pg_roles.oid WHERE datname = current_database()',
    ),
  );
  return owners.map((owner) => (owner === 'pg_database_owner' ? databaseOwner : owner));
}

function column({ rows }: { rows: { owner: string }[] }): string[] {
  return rows.map(({ owner }) => owner);
}
