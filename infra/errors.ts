import * as pulumi from '@pulumi/pulumi';
import { type Issue, UserError } from '../src/errors.ts';

/**
 * Runs a part of the program. What the user can mend leaves it as `pulumi.RunError`, which Pulumi prints without a
 * stack: every issue at once, with its remedy.
 */
export async function explained<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asRunError(error);
  }
}

/** A UserError as the RunError that it leaves the program as; everything else as it is. */
export function asRunError(error: unknown): unknown {
  return error instanceof UserError ? new pulumi.RunError(error.message) : error;
}

/** Throws one UserError for all issues, or nothing where there is none. */
export function refuse(issues: readonly Issue[]): void {
  const [first, ...rest] = issues;
  if (first) throw new UserError(first, ...rest);
}
