import { createHash } from 'node:crypto';
import { UserError } from '../../src/errors.ts';
import { explainDatabaseError } from '../../src/ledger/database-errors.ts';

/** What these connections come from, for messages. */
export const SETTING = "the stack's configuration";

/** What Pulumi puts in the place of a value that a preview cannot know. */
const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

export function isUnknown(value: unknown): boolean {
  return value === UNKNOWN;
}

/** One line for the person who runs Pulumi: it shows what a provider writes to its standard output. */
export function tell(text: string): void {
  console.log(text);
}

/** SHA-256 of a value's JSON, in hexadecimal; equal objects have equal digests whatever the order of their keys. */
export function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)) ?? '')
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  );
}

/**
 * Pulumi shows an error's message, and logs the stack of some: of what the user can mend the message says all. The
 * refusals of Postgres that have a remedy get it here.
 */
export async function plainErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof UserError ? error : explainDatabaseError(error);
    if (!known) throw error;
    const plain = new Error(known.message);
    plain.stack = '';
    throw plain;
  }
}
