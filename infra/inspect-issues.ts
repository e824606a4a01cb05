import type { Issue } from '../src/errors.ts';

/** What shall be there in the end. */
export interface Wish {
  database: string;
  /** Whether the database is made where it is missing; it then belongs to the first of the roles, or to the admin. */
  createDatabase: boolean;
  /** The roles, the schema's owner first. */
  roles: { name: string; create: boolean }[];
}

/** The row of `templates/sql/provision-server.sql`. */
export interface FoundServer {
  version: number;
  version_text: string;
  standby: boolean;
  me: string;
  may_create_database: boolean;
  may_create_role: boolean;
  /** Null where there is no such database. */
  database_owner: string | null;
  may_grant_database: boolean;
  /** Null where there is no schema yet, or none that can be seen from here. */
  schema_owner: string | null;
}

/** A row of `templates/sql/provision-roles.sql`. */
export interface FoundRole {
  name: string;
  administered: boolean;
  /** No schema of somebody else's is in its way. */
  may_migrate: boolean;
  used_here: boolean;
  used_elsewhere: string[];
}

/** Everything that stands against a wish, with what to do about it. */
export function inspectIssues(wish: Wish, server: FoundServer, roles: readonly FoundRole[]): Issue[] {
  if (server.standby) {
    return [
      {
        message: 'The server is a standby (a read replica): nothing can be written there.',
        remedy: 'Use the address of the primary.',
      },
    ];
  }
  return [
    ...databaseIssues(wish, server),
    ...schemaIssues(wish, server, roles),
    ...wish.roles.flatMap(({ name, create }) => {
      const found = roles.find((role) => role.name === name);
      return found ? foundRoleIssues(found, create, server) : missingRoleIssues(name, create, server);
    }),
  ];
}

function databaseIssues({ database, createDatabase, roles }: Wish, server: FoundServer): Issue[] {
  const { database_owner: owner, me } = server;
  const made = roles.filter(({ create }) => create);
  if (owner === null) {
    if (createDatabase && server.may_create_database) return [];
    return [
      createDatabase
        ? {
            message: `Role "${me}" may not create databases.`,
            remedy: `As an administrator of the server: ALTER ROLE "${me}" CREATEDB. Or create "${database}" in the service's console, and: pulumi config set createDatabase false`,
          }
        : {
            message: `There is no database "${database}".`,
            remedy: 'Create it, or correct the name: pulumi config set database <name>',
          },
    ];
  }
  if (createDatabase) {
    const wanted = made[0]?.name ?? me;
    if (owner === wanted) return [];
    return [
      {
        message: `There is a database "${database}" already, and it belongs to "${owner}".`,
        expected: `a database of "${wanted}", or none of this name`,
        remedy:
          'To use it as it is: pulumi config set createDatabase false. Otherwise choose another name: pulumi config set database <name>',
      },
    ];
  }
  if (made.length === 0 || server.may_grant_database) return [];
  return [
    {
      message: `Role "${me}" may not give others rights in the database "${database}", which belongs to "${owner}".`,
      remedy: `As "${owner}": GRANT CREATE, CONNECT ON DATABASE "${database}" TO "${me}" WITH GRANT OPTION. Or let "${me}" own the schema itself: pulumi config set createRoles false`,
    },
  ];
}

/** Told before anything is made: n8n would get another password, and then the migrations would fail. */
function schemaIssues(
  { database, roles: [wanted] }: Wish,
  { schema_owner: owner }: FoundServer,
  roles: readonly FoundRole[],
): Issue[] {
  if (owner === null || !wanted?.create) return [];
  const found = roles.find(({ name }) => name === wanted.name);
  if (wanted.name === owner || found?.may_migrate) return [];
  return [
    {
      message: `The schema oncehook in the database "${database}" belongs to "${owner}", and "${wanted.name}" could not migrate it.`,
      remedy: `Let it stay so, with "${owner}" as adminUser and n8n's password as n8nPassword: pulumi config set createRoles false (docs/provisioning.md).`,
    },
  ];
}

function missingRoleIssues(name: string, create: boolean, { may_create_role, me }: FoundServer): Issue[] {
  if (!create) {
    return [
      {
        message: `There is no role "${name}".`,
        remedy: `Create it in the service's console, with the password that n8nPassword holds. Or do without it (docs/provisioning.md says what that costs): pulumi config rm n8nPassword`,
      },
    ];
  }
  if (may_create_role) return [];
  return [
    {
      message: `Role "${me}" may not create roles, and "${name}" is missing.`,
      remedy: `As an administrator of the server: ALTER ROLE "${me}" CREATEROLE. Where the service does not allow that: pulumi config set createRoles false`,
    },
  ];
}

function foundRoleIssues(found: FoundRole, create: boolean, { me }: FoundServer): Issue[] {
  const { name, administered, used_here, used_elsewhere } = found;
  if (!create) return [];
  if (!used_here && used_elsewhere.length > 0) {
    const [first, ...others] = used_elsewhere.map((other) => `"${other}"`);
    return [
      {
        message: `The role "${name}" is in use in the database ${[first, ...others].join(', ')}: a new password would lock its users out.`,
        remedy: 'Use another server, for a role belongs to the whole of it; or provision that database.',
      },
    ];
  }
  if (administered) return [];
  return [
    {
      message: `There is a role "${name}" already, and "${me}" may not change it.`,
      remedy: `As an administrator of the server: ALTER ROLE "${me}" CREATEROLE; GRANT "${name}" TO "${me}" WITH ADMIN OPTION.`,
    },
  ];
}
