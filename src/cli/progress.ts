/** Nobody needs to be told of work that is over before one wonders. */
const PATIENCE_MS = 2_000;

/**
 * Runs work and, where standard error is a terminal and the work takes longer than two seconds, says on one line
 * what is going on; the line is gone when the work has ended.
 */
export async function withProgress<T>(
  label: string,
  work: () => Promise<T>,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<T> {
  if (!stream.isTTY) return work();
  const began = Date.now();
  let shown = false;
  const timer = setInterval(() => {
    const seconds = Math.floor((Date.now() - began) / 1000);
    if (seconds * 1000 < PATIENCE_MS) return;
    shown = true;
    stream.write(`\r\u001b[K${label} … ${seconds} s`);
  }, 500);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (shown) stream.write('\r\u001b[K');
  }
}
