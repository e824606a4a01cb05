import { UserError } from '../errors.ts';

/** What the disk says, in words, and what to do about it. */
const REASONS: Record<string, [reason: string, remedy: string]> = {
  EACCES: ['permission denied', 'Give yourself the right to write there, or run the command elsewhere.'],
  EPERM: ['operation not permitted', 'Give yourself the right to write there, or run the command elsewhere.'],
  EROFS: ['the file system is read-only', 'Run the command where it can write.'],
  ENOSPC: ['the disk is full', 'Make room and run the command again.'],
  EDQUOT: ['the disk quota is used up', 'Make room and run the command again.'],
  ENOTDIR: ['a file stands where a folder is needed', 'Move the file away.'],
  EEXIST: ['a file stands where a folder is needed', 'Move the file away.'],
  ENOENT: ['a folder on the way is missing', 'Make the folder, or mend the symbolic link that stands there.'],
  EISDIR: ['a folder stands there', 'Move the folder away.'],
  EMFILE: ['too many files are open', 'Close other programs and run the command again.'],
};

/** True for the error of a path where nothing stands. */
export function noEntry(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/** The promise's value, or undefined where it fails with an error that `expected` knows. */
export async function orUndefined<T>(
  promise: Promise<T>,
  expected: (error: unknown) => boolean,
): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (expected(error)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * The error of a file call as one that the user can mend; any other error comes back as it is. `left` are the
 * errors of undoing, of which the user must know.
 */
export function toUserError(error: unknown, path: string, left: unknown[] = []): unknown {
  const [reason, remedy] = REASONS[codeOf(error) ?? ''] ?? [];
  if (reason === undefined || remedy === undefined) {
    return left.length > 0
      ? new AggregateError([error, ...left], 'Writing failed, and so did undoing it')
      : error;
  }
  const state =
    left.length > 0
      ? 'Not every file could be put back: compare them with your version control.'
      : 'All files are as they were.';
  return new UserError({ message: `"${path}" could not be written or removed: ${reason}. ${state}`, remedy });
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
