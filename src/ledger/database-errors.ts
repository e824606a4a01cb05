import { UserError } from '../errors.ts';

/** By SQLSTATE, or by the code of the system: what happened, and what to do. */
const KNOWN: Record<string, [message: string, remedy: string]> = {
  '53100': ['The disk of the Postgres server is full.', 'Free space there, then run the command again.'],
  '53200': ['The Postgres server is out of memory.', 'Give it more memory, then run the command again.'],
  '42501': [
    'The role may not do this',
    'Run it as the role that migrates (the owner of the schema oncehook).',
  ],
  '42P01': ['The database lacks a table of Oncehook', 'Run: oncehook migrate'],
  '42883': ['The database lacks a function of Oncehook', 'Run: oncehook migrate'],
  '3F000': ['The database has no schema of Oncehook.', 'Run: oncehook migrate'],
  '25006': ['The database is read-only', 'Use the address of the primary server.'],
  '55P03': [
    'Another session holds a lock for too long',
    'Try again; if it repeats, look for a long transaction.',
  ],
  '57014': ['The server cancelled the statement', 'Try again; see the statement_timeout of the role.'],
  '57P01': ['The server ended the connection', 'Start Postgres again, then run the command again.'],
  '57P02': ['The server crashed', 'Start Postgres again, then run the command again.'],
  ECONNRESET: [
    'The connection to Postgres was lost.',
    'Check that the server runs, then run the command again.',
  ],
  EPIPE: ['The connection to Postgres was lost.', 'Check that the server runs, then run the command again.'],
  lost: ['The connection to Postgres was lost.', 'Check that the server runs, then run the command again.'],
};

/** A refusal of Postgres, or a lost connection, that the user can mend; undefined for anything else. */
export function explainDatabaseError(error: unknown): UserError | undefined {
  const { code, message } = error as { code?: string; message?: string };
  const lost = /^Connection terminated/.test(message ?? '');
  const [text, remedy] = KNOWN[lost ? 'lost' : (code ?? '')] ?? [];
  if (text === undefined || remedy === undefined) return undefined;
  return new UserError({ message: text.endsWith('.') ? text : `${text}: ${message}.`, remedy });
}
