import * as postgresql from '@pulumi/postgresql';
import type * as pulumi from '@pulumi/pulumi';
import { N8N_SETTINGS } from '../src/ledger/n8n-role.ts';
import { authorityFile, urlOf } from './connection.ts';
import type { OncehookDatabaseArgs } from './database.ts';
import { type DatabaseShape, planDefaults, planGrants } from './database-plan.ts';
import type { Endpoint } from './endpoint.ts';
import { RoleLogin } from './role-login.ts';

/** Who connects to a database. */
export interface Login {
  user: pulumi.Input<string>;
  /** A secret. */
  password: pulumi.Input<string>;
}

/** A role that was made here; what logs in as it waits for `login`. */
export interface MadeRole extends Login {
  login: pulumi.Resource;
}

/** What every part of an `OncehookDatabase` needs to know. */
export interface Inside {
  name: string;
  args: OncehookDatabaseArgs;
  shape: DatabaseShape;
  endpoint: Endpoint;
  options: { parent: pulumi.Resource; retainOnDelete: boolean; deletedWith?: pulumi.Resource };
}

/** A database of the server, as one login sees it. */
export function postgres(
  { name, endpoint, options }: Inside,
  short: string,
  database: pulumi.Input<string>,
  { user, password }: Login,
): postgresql.Provider {
  const { host, port, sslmode } = endpoint;
  const sslrootcert = authorityFile(endpoint);
  return new postgresql.Provider(
    `${name}-${short}`,
    {
      ...{ host, port, sslmode, database, username: user, password },
      ...(sslrootcert === undefined ? {} : { sslrootcert }),
      // A superuser's plugin reads passwords back, which no managed service allows.
      superuser: false,
      connectTimeout: 10,
    },
    { parent: options.parent },
  );
}

/** A role that may log in and nothing else, and its password. */
export function makeRole(
  { name, args, endpoint, options }: Inside,
  provider: postgresql.Provider,
  short: 'owner' | 'n8n',
  roleName: string,
): MadeRole {
  const settings = short === 'n8n' ? N8N_SETTINGS : {};
  const made = new postgresql.Role(
    `${name}-${short}`,
    {
      ...{ name: roleName, login: true, superuser: false, createDatabase: false, createRole: false },
      // The plugin reads these two back, and takes them away where they are not named here.
      ...(short === 'n8n'
        ? {
            statementTimeout: Number(N8N_SETTINGS.statement_timeout),
            idleInTransactionSessionTimeout: Number(N8N_SETTINGS.idle_in_transaction_session_timeout),
          }
        : {}),
    },
    {
      ...{ ...options, provider, dependsOn: endpoint.dependsOn },
      ...(args.found?.roles.has(roleName) ? { import: roleName } : {}),
    },
  );
  const login = new RoleLogin(
    `${name}-${short}-login`,
    {
      connection: urlOf(endpoint, endpoint.maintenanceDatabase, endpoint.admin),
      role: made.name,
      settings,
      version: args.passwordVersion ?? 1,
      password: short === 'n8n' ? args.n8nPassword : undefined,
    },
    // Gone from the state, the password is of no use to anybody.
    { ...options, retainOnDelete: false },
  );
  return { user: made.name, password: login.password, login };
}

/** The database, which belongs to the schema's owner. */
export function makeDatabase(
  { name, args, shape, endpoint, options }: Inside,
  provider: postgresql.Provider,
  owner: Login,
  after: pulumi.Resource[],
): postgresql.Database {
  return new postgresql.Database(
    `${name}-database`,
    { name: shape.database, owner: owner.user },
    {
      ...{ ...options, provider, dependsOn: [...endpoint.dependsOn, ...after] },
      ...(args.found?.database ? { import: shape.database } : {}),
    },
  );
}

/**
 * The grants on the database, one after the other. They are made by the database's owner: somebody else's grant may
 * pass with a warning that the plugin does not see.
 */
export function makeGrants(
  { name, shape, options }: Inside,
  { admin, asOwner, owner }: { admin: postgresql.Provider; asOwner: postgresql.Provider; owner: Login },
  after: pulumi.Resource[],
): void {
  const { database, createDatabase } = shape;
  let last = after;
  for (const { name: short, role, privileges } of planGrants(shape)) {
    last = [
      new postgresql.Grant(
        `${name}-grant-${short}`,
        { database, role, objectType: 'database', privileges },
        { ...options, provider: createDatabase ? asOwner : admin, dependsOn: last },
      ),
    ];
  }
  for (const objectType of planDefaults(shape)) {
    last = [
      new postgresql.DefaultPrivileges(
        `${name}-default-${objectType}`,
        { database, role: 'public', owner: owner.user, objectType, privileges: [] },
        { ...options, provider: asOwner, dependsOn: last },
      ),
    ];
  }
}
