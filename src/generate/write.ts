import { randomBytes } from 'node:crypto';
import * as nodeFs from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Bug, UserError } from '../errors.ts';
import { noEntry, orUndefined, toUserError } from './file-errors.ts';

/** One file to be written: a path relative to the root, and its whole text. */
export interface OutputFile {
  path: string;
  content: string;
}

/** A file that is to be gone. */
export interface Removal {
  path: string;
  content: null;
}

/** The calls of `node:fs/promises` that writing takes; another one stands in for them in tests. */
export type FileSystem = Pick<
  typeof nodeFs,
  'lstat' | 'mkdir' | 'open' | 'readFile' | 'realpath' | 'rename' | 'rm' | 'rmdir'
>;

/** How one file stands against what is on the disk. */
export interface PlannedFile {
  path: string;
  /** Null where the file is to be gone. */
  content: string | null;
  /** Absolute. */
  target: string;
  /** What is there now; undefined where nothing is. */
  before: { bytes: Buffer; mode: number } | undefined;
  state: 'new' | 'changed' | 'same' | 'removed';
}

/**
 * Compares files with what is on the disk and writes nothing. Throws UserError for a path that leads outside
 * `root`, by itself or over a symbolic link, and for one where something other than a file stands.
 */
export async function planWrite(
  root: string,
  files: (OutputFile | Removal)[],
  fs: FileSystem = nodeFs,
): Promise<PlannedFile[]> {
  const base = await fs.realpath(resolve(root));
  const seen = new Set<string>();
  const planned: PlannedFile[] = [];
  for (const file of files) {
    const target = resolve(base, file.path);
    if (isAbsolute(file.path) || outside(base, target)) {
      throw leadsOutside(file.path, root);
    }
    if (seen.has(target)) {
      throw new Bug(`Two generated files have one path: ${file.path}`);
    }
    seen.add(target);
    await checkParents(base, dirname(target), file.path, root, fs);
    const before = await readExisting(target, file.path, fs);
    planned.push({ ...file, target, before, state: compare(before, file) });
  }
  return planned;
}

/** The same plan with another text for one file, made from what is there now. */
export function withContent(planned: PlannedFile, content: string): PlannedFile {
  return { ...planned, content, state: compare(planned.before, { path: planned.path, content }) };
}

/**
 * Writes every file of the plan that differs: first all of them beside their targets, on the disk, then one
 * rename after the other, then the removals. When anything fails, or `signal` says stop before the renames, every file is as it
 * was and no temporary file stays. Throws UserError for what the disk refuses.
 */
export async function applyWrite(
  planned: PlannedFile[],
  fs: FileSystem = nodeFs,
  signal?: AbortSignal,
): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  let current = '';
  try {
    const ready: { file: PlannedFile; temporary: string }[] = [];
    for (const file of planned) {
      if (file.content === null || file.state === 'same') continue;
      current = file.path;
      signal?.throwIfAborted();
      await makeFolder(dirname(file.target), fs, undo);
      const temporary = join(dirname(file.target), `.oncehook-${randomBytes(6).toString('hex')}.tmp`);
      undo.push(() => fs.rm(temporary, { force: true }));
      await writeDurably(temporary, file.content, file.before?.mode, fs);
      ready.push({ file, temporary });
    }
    signal?.throwIfAborted();
    for (const { file, temporary } of ready) {
      current = file.path;
      await fs.rename(temporary, file.target);
      undo.push(() => restore(file, fs));
    }
    for (const file of planned.filter(({ state }) => state === 'removed')) {
      current = file.path;
      await fs.rm(file.target);
      undo.push(() => restore(file, fs));
    }
  } catch (error) {
    const left = await rollBack(undo);
    throw toUserError(error, current, left);
  }
}

function compare(before: PlannedFile['before'], { content }: OutputFile | Removal): PlannedFile['state'] {
  if (content === null) {
    return before === undefined ? 'same' : 'removed';
  }
  if (before === undefined) {
    return 'new';
  }
  return before.bytes.equals(Buffer.from(content)) ? 'same' : 'changed';
}

function outside(base: string, target: string): boolean {
  const way = relative(base, target);
  return way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}

function leadsOutside(path: string, root: string): UserError {
  return new UserError({
    message: `"${path}" leads outside the folder ${root}: nothing was written.`,
    remedy: 'Name a folder below that of the configuration file, and no symbolic link that leads elsewhere.',
  });
}

/** A symbolic link on the way may lead anywhere but out of the root. */
async function checkParents(base: string, folder: string, path: string, root: string, fs: FileSystem) {
  let existing = folder;
  while ((await orUndefined(fs.lstat(existing), noEntry)) === undefined) {
    existing = dirname(existing);
  }
  const real = await fs.realpath(existing).catch((error: unknown) => {
    throw toUserError(error, path);
  });
  if (real !== base && outside(base, real)) {
    throw leadsOutside(path, root);
  }
}

async function readExisting(target: string, path: string, fs: FileSystem): Promise<PlannedFile['before']> {
  try {
    const found = await orUndefined(fs.lstat(target), noEntry);
    if (found === undefined) {
      return undefined;
    }
    if (!found.isFile()) {
      throw new UserError({
        message: `"${path}" is no regular file, and Oncehook would have to replace it.`,
        remedy: 'Move it away and run the command again.',
      });
    }
    return { bytes: await fs.readFile(target), mode: found.mode & 0o777 };
  } catch (error) {
    throw toUserError(error, path);
  }
}

async function makeFolder(folder: string, fs: FileSystem, undo: (() => Promise<unknown>)[]): Promise<void> {
  const made = await fs.mkdir(folder, { recursive: true });
  if (made === undefined) {
    return;
  }
  undo.push(async () => {
    for (let empty = folder; ; empty = dirname(empty)) {
      await fs.rmdir(empty);
      if (empty === made) {
        return;
      }
    }
  });
}

async function writeDurably(
  path: string,
  content: string | Buffer,
  mode: number | undefined,
  fs: FileSystem,
) {
  const handle = await fs.open(path, 'wx', mode ?? 0o666);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function restore({ target, before }: PlannedFile, fs: FileSystem): Promise<void> {
  if (before === undefined) {
    await fs.rm(target, { force: true });
    return;
  }
  const temporary = join(dirname(target), `.oncehook-${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeDurably(temporary, before.bytes, before.mode, fs);
    await fs.rename(temporary, target);
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

/** Undoes the last step first. Gives the errors of what could not be undone. */
async function rollBack(undo: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const step of undo.reverse()) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}
