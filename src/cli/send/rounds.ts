/** What came back for one delivery. */
export interface Sent {
  /** The HTTP status. */
  status: number;
  /** What the gate decided; null where the answer is not of the gate. */
  outcome: string | null;
  /** The body of the answer. */
  answer: string;
  /** Why, where it is not plain. */
  reason: string | null;
  /** From the first byte sent to the last one received. */
  ms: number;
}

/**
 * Does one thing `times` times, `concurrency` at once, and tells of each as it ends. The first error stops it, once
 * what was begun has ended.
 */
export async function inRounds(
  times: number,
  concurrency: number,
  deliver: () => Promise<Omit<Sent, 'ms'>>,
  tell: (sent: Sent, number: number) => void,
): Promise<Sent[]> {
  const all: Sent[] = [];
  let begun = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (begun < times && !failed) {
      begun += 1;
      const at = performance.now();
      try {
        const sent = { ...(await deliver()), ms: Math.round((performance.now() - at) * 10) / 10 };
        all.push(sent);
        tell(sent, all.length);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(times, concurrency) }, worker));
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
  return all;
}

/**
 * Whether the answers are what was asked for: of the expected outcomes, each of which must have come; without
 * expectation every answer must be 2xx.
 */
export function asExpected(all: readonly Sent[], expected: readonly string[] | undefined): boolean {
  if (!expected) return all.every(({ status }) => status >= 200 && status < 300);
  const found = new Set(all.map(({ outcome }) => outcome ?? ''));
  return (
    [...found].every((outcome) => expected.includes(outcome)) &&
    expected.every((outcome) => found.has(outcome))
  );
}
