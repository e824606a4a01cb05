import { CommanderError } from 'commander';
import { formatIssue, UserError } from '../errors.ts';
import { withInvocation } from './invocation.ts';

/** Exit statuses that every verb shares. */
export const EXIT = { done: 0, no: 1, usage: 2, bug: 70, interrupted: 130 } as const;

/** The user said no, or pressed Ctrl-C at a prompt: nothing was done and nothing is wrong. */
export class Cancelled extends Error {}

/** What to write to standard error for an error, what for `--json` to standard output, and the exit status. */
export interface Failure {
  status: number;
  text: string;
  json?: { ok: false; error: object };
}

/** Turns whatever a verb threw into what the user gets to read. */
export async function explainFailure(error: unknown): Promise<Failure> {
  if (error instanceof CommanderError) {
    // Commander has written its own message.
    return { status: error.exitCode === 0 ? EXIT.done : EXIT.usage, text: '' };
  }
  if (error instanceof Cancelled)
    return { status: EXIT.interrupted, text: 'Cancelled: nothing was changed.' };
  const known = error instanceof UserError ? error : await asDatabaseError(error);
  if (known) {
    const issues = known.issues.map((issue) => ({
      ...issue,
      message: withInvocation(issue.message),
      ...(issue.expected === undefined ? {} : { expected: withInvocation(issue.expected) }),
      ...(issue.remedy === undefined ? {} : { remedy: withInvocation(issue.remedy) }),
    }));
    return {
      status: EXIT.usage,
      text: issues.map(formatIssue).join('\n'),
      json: { ok: false, error: { issues } },
    };
  }
  const text = bugReport(error);
  return { status: EXIT.bug, text, json: { ok: false, error: { bug: text.split('\n')[0] } } };
}

/** Postgres's own refusals reach a verb as node-postgres's errors, which only the ledger's verbs have loaded. */
async function asDatabaseError(error: unknown): Promise<UserError | undefined> {
  if (!(error instanceof Error)) return undefined;
  const { severity, syscall, message } = error as { severity?: unknown; syscall?: unknown; message: string };
  const ofServer = severity !== undefined;
  const ofConnection = syscall === 'read' || syscall === 'write' || /^Connection terminated/.test(message);
  if (!ofServer && !ofConnection) return undefined;
  const { explainDatabaseError } = await import('../ledger/database-errors.ts');
  return explainDatabaseError(error);
}

function bugReport(error: unknown): string {
  const shown = error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);
  return [
    ...shown.split('\n').slice(0, 6),
    'This is a fault of Oncehook, not yours. Please report these lines, after a look that they hold nothing secret.',
  ].join('\n');
}
