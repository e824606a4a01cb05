import { database } from './database.ts';
import { defaultPrivileges } from './default-privileges.ts';
import { grant } from './grant.ts';
import { grantRole } from './grant-role.ts';
import type { Kind } from './kind.ts';
import { role } from './role.ts';

const kinds: Readonly<Record<string, Kind>> = {
  'postgresql:index/role:Role': role,
  'postgresql:index/database:Database': database,
  'postgresql:index/grant:Grant': grant,
  'postgresql:index/grantRole:GrantRole': grantRole,
  'postgresql:index/defaultPrivileges:DefaultPrivileges': defaultPrivileges,
};

/** The kind of a resource by its URN: `urn:pulumi:dev::project::parent$type::name`. */
export function kindOf(urn: string): Kind {
  const token = urn.split('::')[2]?.split('$').at(-1) ?? '';
  const kind = kinds[token];
  if (!kind) throw new Error(`The stand-in for the postgresql plugin does not implement ${token}.`);
  return kind;
}
