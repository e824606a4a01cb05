import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '../errors.ts';
import { baseOf, unreachable } from './connection.ts';

/**
 * Whether n8n listens on a production path for POST. Asks with a CORS preflight, which starts no execution
 * and reaches no node; n8n names the methods that are registered for the path in its answer.
 *
 * Throws UserError where n8n does not answer at all.
 */
export async function isLive(url: string, path: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL(`webhook/${path}`, baseOf(url)), {
      method: 'OPTIONS',
      headers: { Origin: new URL(url).origin, 'Access-Control-Request-Method': 'POST' },
    });
    const methods = answer.headers.get('access-control-allow-methods') ?? '';
    await answer.arrayBuffer();
    return methods.split(/,\s*/).includes('POST');
  } catch (error) {
    throw unreachable(url, error);
  }
}

/**
 * Waits until the production path is up (or down): publishing takes n8n a moment.
 *
 * Throws UserError after `timeout` milliseconds.
 */
export async function awaitLive(url: string, path: string, live = true, timeout = 15_000): Promise<void> {
  const deadline = Date.now() + timeout;
  while ((await isLive(url, path)) !== live) {
    if (Date.now() > deadline) {
      throw new UserError({
        message: `n8n ${live ? 'does not answer' : 'still answers'} on the production path "${path}".`,
        remedy: live ? 'Publish the workflow in n8n.' : 'Unpublish the workflow in n8n.',
      });
    }
    await pause(100);
  }
}
