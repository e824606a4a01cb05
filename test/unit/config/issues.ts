import { type Issue, UserError } from '../../../src/errors.ts';

/** The issues that a call throws; any other end of it fails the test. */
export function issuesOf(call: () => unknown): readonly Issue[] {
  try {
    call();
  } catch (error) {
    if (error instanceof UserError) return error.issues;
    throw error;
  }
  throw new Error('Nothing was refused.');
}
