import * as pulumi from '@pulumi/pulumi';
import type { LedgerContent } from './configuration.ts';
import { urlOf } from './connection.ts';
import type { OncehookDatabase } from './database.ts';
import type { Login } from './database-parts.ts';
import type { OncehookSchema } from './schema.ts';

/**
 * What the stack tells: the fields of n8n's Postgres credential, in n8n's words and order, and what
 * `oncehook --stack` needs. Passwords and addresses are secrets.
 */
export function stackOutputs(
  database: OncehookDatabase,
  schema: OncehookSchema,
  { project, credential }: LedgerContent,
) {
  const { endpoint, n8n, owner } = database;
  const { sslmode, sslrootcert } = endpoint;
  const url = (login: Login) => urlOf(endpoint, database.database, login, sslrootcert);
  return {
    credential,
    host: endpoint.host,
    database: database.database,
    user: n8n.user,
    password: pulumi.secret(n8n.password),
    // n8n checks a certificate by the authorities that it knows, unless it is told not to.
    ignoreSslIssues: sslmode === 'require' && sslrootcert === undefined,
    ssl: sslmode === 'disable' ? 'disable' : 'require',
    port: endpoint.port,

    project,
    databaseUrl: url(owner),
    n8nUrl: url(n8n),
    migrations: schema.applied,
    keepData: database.keepData,
  };
}
