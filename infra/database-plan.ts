import { N8N_ROLE } from '../src/ledger/n8n-role.ts';
import type { OncehookDatabaseArgs } from './database.ts';
import type { Wish } from './inspect-issues.ts';

/** Which parts are made here, and which were there before. */
export interface DatabaseShape {
  database: string;
  /** The database is made here, and is Oncehook's alone. */
  createDatabase: boolean;
  /** The roles are made here; otherwise the endpoint's admin owns the schema. */
  createRoles: boolean;
  /** n8n logs in as a role of its own. */
  n8nRole: boolean;
}

/** One grant on the database, by the end of its resource's name. No privilege takes every one away. */
export interface PlannedGrant {
  name: string;
  role: string;
  privileges: string[];
}

/** Those arguments of an `OncehookDatabase` that decide what is made. */
export type DatabaseParts = Pick<
  OncehookDatabaseArgs,
  'database' | 'createDatabase' | 'createRoles' | 'n8nPassword'
>;

/** The shape that a component's arguments ask for. */
export function shapeOf(parts: DatabaseParts): DatabaseShape {
  const { database = 'oncehook', createDatabase = true, createRoles = true, n8nPassword } = parts;
  return { database, createDatabase, createRoles, n8nRole: createRoles || n8nPassword !== undefined };
}

/** The role that owns the schema, where it is made here. */
export function ownerRole(database: string): string {
  return `${database}_owner`;
}

/** What `inspectServer` looks for. */
export function wishOf({ database, createDatabase, createRoles, n8nRole }: DatabaseShape): Wish {
  return {
    database,
    createDatabase,
    roles: [
      ...(createRoles ? [{ name: ownerRole(database), create: true }] : []),
      ...(n8nRole ? [{ name: N8N_ROLE, create: createRoles }] : []),
    ],
  };
}

/**
 * The grants on the database, in the order in which they have to be made: two at once would meet in the same row of
 * the catalogue ("tuple concurrently updated"). A database that was there before keeps what others were granted.
 */
export function planGrants({
  database,
  createDatabase,
  createRoles,
  n8nRole,
}: DatabaseShape): PlannedGrant[] {
  return [
    // Everybody may connect to a new database and make temporary tables there, unless that is taken away.
    ...(createDatabase ? [{ name: 'public', role: 'public', privileges: [] }] : []),
    ...(createRoles && !createDatabase
      ? [{ name: 'owner', role: ownerRole(database), privileges: ['CONNECT', 'CREATE'] }]
      : []),
    ...(n8nRole && (createDatabase || createRoles)
      ? [{ name: 'n8n', role: N8N_ROLE, privileges: ['CONNECT'] }]
      : []),
  ];
}

/**
 * The kinds of objects of which everybody would get a share when the owner makes one, if that were not taken away
 * beforehand: so there is no moment between a migration and the grants after it in which anybody may call a function.
 */
export function planDefaults({ createDatabase, createRoles }: DatabaseShape): string[] {
  // A role and a database that were there before may hold other things than Oncehook's.
  return createDatabase || createRoles ? ['function', 'type'] : [];
}

/** What the given rights cost, for the person who chose them; empty where nothing is lost. */
export function lostGuarantees({ database, createDatabase, n8nRole }: DatabaseShape): string[] {
  return [
    ...(createDatabase
      ? []
      : [`The database "${database}" was there before: who else may connect is as its owner has set it.`]),
    ...(n8nRole
      ? []
      : [
          'n8n logs in as the owner of the schema: whoever holds its password reads signing secrets and stored ' +
            'bodies, and can change or delete events. A role oncehook_n8n, made in the console of the service, ' +
            'and its password in n8nPassword end that (docs/provisioning.md).',
        ]),
  ];
}
