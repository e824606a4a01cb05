import { UserError } from '../errors.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs work that must clean up behind itself: Ctrl-C (or SIGTERM) aborts the given signal in place of ending
 * the process. Once the work has ended, the process gets the signal that it was sent, unless somebody else
 * listens for it.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let caught: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    caught ??= signal;
    controller.abort(new UserError(`Stopped by ${signal}: all files are as they were.`));
  };
  for (const signal of SIGNALS) {
    process.on(signal, stop);
  }
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of SIGNALS) {
      process.off(signal, stop);
    }
    if (caught !== undefined && process.listenerCount(caught) === 0) {
      process.kill(process.pid, caught);
    }
  }
}
