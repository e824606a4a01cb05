import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until `probe` gives something truthy, and resolves with it. Looks every `every` milliseconds.
 * Throws after `timeout` milliseconds with `what` was waited for and what was seen last.
 */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T> | T,
  { timeout = 30_000, every = 50 } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const seen = await probe();
    if (seen) return seen as Exclude<T, false | null | undefined>;
    if (Date.now() > deadline) {
      throw new Error(`Waited ${timeout} ms in vain for ${what}; seen last: ${JSON.stringify(seen)}`);
    }
    await pause(every);
  }
}
