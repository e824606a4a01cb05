import { readText, writePrivate } from './dev/folder.ts';

/** What is typed into n8n's one Postgres credential, but for the password. */
export interface CredentialFields {
  name: string;
  host: string;
  port: number;
  database: string;
  user: string;
  ssl: 'disable' | 'require';
  /** n8n is not to check the server's certificate. */
  ignoreSslIssues?: boolean;
}

/** The fields of the credential in n8n's words and order; the password where it may be shown. */
export function credentialFields(credential: CredentialFields, password: string): [string, string][] {
  return [
    ['Name', credential.name],
    ['Host', credential.host],
    ['Database', credential.database],
    ['User', credential.user],
    ['Password', password],
    ...(credential.ignoreSslIssues ? ([['Ignore SSL Issues', 'on']] as [string, string][]) : []),
    ['Port', `${credential.port}`],
    ['SSL', credential.ssl],
  ];
}

/**
 * Writes a credential, password included, to a file that only this user may read. Returns the fields that the file
 * held otherwise, or not at all: what it told before is what n8n was given.
 * @throws UserError where it cannot be written.
 */
export async function writeCredential(
  file: string,
  heading: string,
  credential: CredentialFields,
  password: string,
): Promise<string[]> {
  const fields = credentialFields(credential, password);
  const width = Math.max(...fields.map(([label]) => label.length));
  const written = ([label, value]: [string, string]) => `${label.padEnd(width)}  ${value}`;
  const told = new Set((await readText(file))?.split('\n'));
  const changed = fields.filter((field) => !told.has(written(field))).map(([label]) => label);
  await writePrivate(file, `# ${heading}\n${fields.map((field) => `${written(field)}\n`).join('')}`);
  return changed;
}
