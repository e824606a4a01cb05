import { join } from 'node:path';
import { N8N_ROLE } from '../../ledger/n8n-role.ts';
import { type CredentialFields, writeCredential } from '../credential.ts';
import { DATABASE } from './databases.ts';
import { FILES, type Passwords } from './folder.ts';

/** What is typed into n8n's one Postgres credential, but for the password. */
export interface Credential extends CredentialFields {
  /** The file that also holds the password. */
  file: string;
  /** The fields that n8n's credential cannot have yet, in n8n's words: those that the file held otherwise, or not at all. */
  changed: string[];
}

/**
 * Writes the credential of the development database, password included, to a file that only this user may read, and
 * tells what of it is new.
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
  const credential = { name, host: '127.0.0.1', port, database: DATABASE, user: N8N_ROLE, ssl };
  const heading = "For n8n's Postgres credential. Valid for the development database on this machine alone.";
  return { ...credential, file, changed: await writeCredential(file, heading, credential, n8n) };
}
