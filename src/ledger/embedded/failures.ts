import { dirname } from 'node:path';
import { type Issue, UserError } from '../../errors.ts';

/** What is known about a server that did not come up. */
export interface Failure {
  dataDir: string;
  port?: number | undefined;
  /** The last lines that the program wrote. */
  log: string;
  /** What was tried, for a sentence such as `Postgres could not start`. */
  action: string;
}

/** The way without an embedded server, for remedies. */
export const OWN_DATABASE =
  'use your own database instead: migrate, secrets sync, generate (docs/configuration.md)';

const KNOWN: { pattern: RegExp; issue: (failure: Failure) => Issue }[] = [
  {
    pattern: /Address already in use|Only one usage of each socket address/,
    issue: ({ port }) => ({
      message: `Port ${port} on 127.0.0.1 is taken by another program.`,
      remedy: `Stop that program (\`ss -ltnp 'sport = :${port}'\` or \`lsof -i :${port}\` shows it), or choose another port.`,
    }),
  },
  {
    pattern: /No space left on device|Disk quota exceeded/,
    issue: ({ dataDir, action }) => ({
      message: `${action}: the disk that holds ${dataDir} is full.`,
      remedy: 'Free at least 100 MB there and start again; nothing that was committed is lost.',
    }),
  },
  {
    pattern: /Read-only file system/,
    issue: ({ dataDir, action }) => ({
      message: `${action}: ${dirname(dataDir)} is on a read-only file system.`,
      remedy: `Work in a folder that can be written, or ${OWN_DATABASE}.`,
    }),
  },
  {
    pattern: /Permission denied|Operation not permitted|has wrong ownership|invalid permissions/,
    issue: ({ dataDir, action, log }) => ({
      message: `${action}: no permission for ${dataDir} (${lastLine(log)}).`,
      remedy: `Run Oncehook as the user that made the folder, or give it to this user, or ${OWN_DATABASE}.`,
    }),
  },
  {
    pattern:
      /could not create shared memory segment|could not create semaphores|could not map anonymous shared memory/,
    issue: ({ action, log }) => ({
      message: `${action}: the system gives no shared memory (${lastLine(log)}).`,
      remedy: `Raise the limit that the message names (in a container: --shm-size=256m), or ${OWN_DATABASE}.`,
    }),
  },
];

/** A failed initdb or start as a UserError: the known causes by their cause, any other with the last lines of the log. */
export function explainFailure(failure: Failure): UserError {
  for (const { pattern, issue } of KNOWN) {
    if (pattern.test(failure.log)) return new UserError(issue(failure));
  }
  return new UserError({
    message: `${failure.action} in ${failure.dataDir}:\n${failure.log.trim() || '(it wrote nothing)'}`,
    remedy: `Mend what the lines above name. To begin with an empty database, stop Oncehook and move ${failure.dataDir} away.`,
  });
}

/** A file system error of Node as a UserError, or the error itself where it is none that a user can mend. */
export function explainFileError(error: unknown, dataDir: string, action: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    EACCES: 'Permission denied',
    EPERM: 'Operation not permitted',
    EROFS: 'Read-only file system',
    ENOSPC: 'No space left on device',
    EDQUOT: 'Disk quota exceeded',
    ENOTDIR: 'Not a directory',
    EEXIST: 'File exists',
  };
  const word = code === undefined ? undefined : words[code];
  return word ? explainFailure({ dataDir, action, log: `${word}: ${message}` }) : error;
}

function lastLine(log: string): string {
  const lines = log.trim().split('\n');
  return lines.findLast((line) => /FATAL|error|denied|permitted/i.test(line)) ?? lines.at(-1) ?? '';
}
