import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../../errors.ts';
import { noEntry, orUndefined, toUserError } from '../../generate/file-errors.ts';

/** Files of `.oncehook/`. Everything in it belongs to this machine alone. */
export const FILES = {
  passwords: 'passwords.json',
  secrets: 'secrets.env',
  credential: 'n8n-credential.txt',
  access: 'pg_hba.conf',
  data: 'postgres',
} as const;

/** The passwords of the development database's two roles. */
export interface Passwords {
  owner: string;
  n8n: string;
}

/**
 * Makes `.oncehook/` with a .gitignore that keeps all of it out of the repository.
 * @throws UserError where the folder cannot be written.
 */
export async function openFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw toUserError(error, folder);
  }
  await writePrivate(join(folder, '.gitignore'), '*\n', 0o644);
}

/**
 * The passwords that the folder keeps, made on first use. They are on the disk before any role has them.
 * @throws UserError where the file cannot be read or written, or was edited into something else.
 */
export async function keepPasswords(folder: string): Promise<Passwords> {
  const known = await readPasswords(folder);
  if (known) return known;
  const fresh = { owner: randomBytes(24).toString('hex'), n8n: randomBytes(24).toString('hex') };
  await writePrivate(join(folder, FILES.passwords), `${JSON.stringify(fresh, null, 2)}\n`);
  return fresh;
}

/** The passwords that the folder keeps, or undefined where there are none yet. Throws as `keepPasswords` does. */
export async function readPasswords(folder: string): Promise<Passwords | undefined> {
  const file = join(folder, FILES.passwords);
  const text = await readText(file);
  if (text === undefined) return undefined;
  const { owner, n8n } = parse(text);
  const usable = (value: unknown): value is string =>
    typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
  if (usable(owner) && usable(n8n)) return { owner, n8n };
  throw new UserError({
    file,
    message: 'The passwords of the development database cannot be read.',
    remedy: 'Remove the file: new passwords are made and set at the next start.',
  });
}

/** A file's text, or undefined where there is none. @throws UserError where it cannot be read. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await orUndefined(readFile(file, 'utf8'), noEntry);
  } catch (error) {
    throw new UserError({
      file,
      message: `The file cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      remedy: 'Check who owns it: an earlier run may have been by another user.',
    });
  }
}

/**
 * Writes a file that only this user may read, whole or not at all; one that holds the text already is left alone.
 * @throws UserError for what the disk refuses.
 */
export async function writePrivate(file: string, text: string, mode = 0o600): Promise<void> {
  if ((await readText(file)) === text) return;
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chmod(temporary, mode);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw toUserError(error, file);
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
