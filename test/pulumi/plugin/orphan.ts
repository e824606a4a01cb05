/** Ends this process when the one that started it is gone: a killed engine tells its plugins nothing. */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 1000).unref();
}
