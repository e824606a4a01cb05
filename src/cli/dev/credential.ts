import { join } from 'node:path';
import { N8N_ROLE } from '../../ledger/n8n-role.ts';
import { DATABASE } from './databases.ts';
import { FILES, type Passwords, readText, writePrivate } from './folder.ts';

/** What is typed into n8n's one Postgres credential, but for the password. */
export interface Credential {
  name: string;
  host: string;
  port: number;
  database: string;
  user: string;
  ssl: 'disable';
  /** The file that also holds the password. */
  file: string;
  /** The fields that n8n's credential cannot have yet, in n8n's words: those that the file held otherwise, or not at all. */
  changed: string[];
}

/** The fields of the credential in n8n's words and order; the password where it may be shown. */
export function credentialFields(
  credential: Omit<Credential, 'changed'>,
  password: string,
): [string, string][] {
  return [
    ['Name', credential.name],
    ['Host', credential.host],
    ['Database', credential.database],
    ['User', credential.user],
    ['Password', password],
    ['Port', `${credential.port}`],
    ['SSL', credential.ssl],
  ];
}

/**
 * Writes the credential, password included, to a file that only this user may read, and tells what of it is new.
 * @throws UserError where it cannot be written.
 */
export async function keepCredential(
  devFolder: string,
  name: string,
  port: number,
  { n8n }: Passwords,
): Promise<Credential> {
  const file = join(devFolder, FILES.credential);
  const ssl = 'disable' as const;
  const credential = { name, host: '127.0.0.1', port, database: DATABASE, user: N8N_ROLE, ssl, file };
  const fields = credentialFields(credential, n8n);
  const width = Math.max(...fields.map(([label]) => label.length));
  const written = ([label, value]: [string, string]) => `${label.padEnd(width)}  ${value}`;
  // What the last start told is what n8n was given.
  const told = new Set((await readText(file))?.split('\n'));
  const changed = fields.filter((field) => !told.has(written(field))).map(([label]) => label);
  await writePrivate(
    file,
    `# For n8n's Postgres credential. Valid for the development database on this machine alone.\n${fields.map((field) => `${written(field)}\n`).join('')}`,
  );
  return { ...credential, changed };
}
