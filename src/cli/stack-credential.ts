import { join, relative } from 'node:path';
import { loadContext } from './context.ts';
import { type CredentialFields, writeCredential } from './credential.ts';
import { openFolder } from './dev/folder.ts';
import { readStack } from './stack.ts';

/** The credential of a stack's database, but for the password. */
export interface StackCredential extends CredentialFields {
  /** The file that also holds the password, as it can be opened in the working directory. */
  file: string;
  /** What of it is new, in n8n's words. */
  changed: string[];
}

/**
 * Writes what n8n's Postgres credential needs, password included, to a file that only this user may read and that git
 * ignores: `.oncehook/n8n-credential-<stack>.txt` beside the configuration.
 * @throws UserError as `readStack` does, and where the file cannot be written.
 */
export async function keepStackCredential(configFile: string, stack: string): Promise<StackCredential> {
  const context = await loadContext(configFile);
  const { name, credential, password, host, port, database, user, ssl, ignoreSslIssues } = await readStack(
    stack,
    context,
  );
  const fields = { name: credential, host, port, database, user, ssl, ignoreSslIssues };
  await openFolder(context.devFolder);
  const file = join(context.devFolder, `n8n-credential-${name.replaceAll(/[^\w.-]/g, '-')}.txt`);
  const changed = await writeCredential(
    file,
    `For n8n's Postgres credential: the stack ${name}.`,
    fields,
    password,
  );
  return { ...fields, file: relative(process.cwd(), file), changed };
}
