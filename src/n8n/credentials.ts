import { UserError } from '../errors.ts';
import { type Connection, listAll, request } from './connection.ts';

/** What n8n's Postgres credential needs; `ssl` as n8n names it. */
export interface PostgresLogin {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  ssl: 'disable' | 'allow' | 'require';
  /** The size of n8n's pool for this credential. */
  maxConnections: number;
}

interface Stored {
  id: string;
  name: string;
  type: string;
}

/**
 * Makes the Postgres credential of that name, or updates the one that is there; workflows find it by its
 * name when they are imported. Resolves with its id.
 *
 * Throws UserError where two Postgres credentials have the name: n8n then attaches neither.
 */
export async function ensurePostgresCredential(
  connection: Connection,
  name: string,
  login: PostgresLogin,
): Promise<string> {
  const all = await listAll<Stored>(connection, 'credentials');
  const [existing, second] = all.filter((one) => one.type === 'postgres' && one.name === name);
  if (second) {
    throw new UserError({
      message: `n8n has more than one Postgres credential named "${name}".`,
      remedy: 'Rename or delete all but one, and run this again.',
    });
  }
  const body = {
    name,
    type: 'postgres',
    data: { ...login, allowUnauthorizedCerts: false, sshTunnel: false },
  };
  const saved = existing
    ? await request(connection, 'PATCH', `credentials/${existing.id}`, body)
    : await request(connection, 'POST', 'credentials', body);
  return (saved as Stored).id;
}
