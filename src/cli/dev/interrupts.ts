const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STATUS: Record<(typeof SIGNALS)[number], number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** npm hands on the signal that the terminal has sent to everybody: one key press arrives twice. */
const SAME_PRESS_MS = 400;

/** The wish that a long-running verb ends. */
export interface Interrupts {
  /** Aborted by the first signal, or when standard output is closed. */
  signal: AbortSignal;
  /** The exit status of a run that was ended before it was ready. */
  status(): number;
  /** What is left to do when a second signal comes, before the process ends at once. */
  onSecond(action: () => void): void;
  release(): void;
}

/**
 * Listens for Ctrl-C, SIGTERM and SIGHUP: the first one asks for a clean end, the second one ends the process.
 */
export function listenForInterrupts(): Interrupts {
  const controller = new AbortController();
  let status = STATUS.SIGINT;
  let last = () => {};
  let first = 0;
  const handlers = SIGNALS.map((name) => {
    const handler = () => {
      if (first > 0) {
        if (performance.now() - first < SAME_PRESS_MS) return;
        last();
        process.exit(STATUS[name]);
      }
      first = performance.now();
      status = STATUS[name];
      controller.abort();
    };
    process.on(name, handler);
    return { name, handler };
  });
  // The terminal or the reader is gone: nobody will see what comes, and Postgres must still be stopped.
  const closed = () => controller.abort();
  process.stdout.on('error', closed);
  return {
    signal: controller.signal,
    status: () => status,
    onSecond: (action) => {
      last = action;
    },
    release: () => {
      for (const { name, handler } of handlers) process.off(name, handler);
      process.stdout.off('error', closed);
    },
  };
}
