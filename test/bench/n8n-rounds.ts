import { Agent } from 'node:http';
import type { Answer } from '../n8n/harness/deliver.ts';
import { median } from './pairs.ts';

/** One thing that is measured: makes a request, sends it, and says when all that was sent is done. */
export interface Subject {
  name: string;
  send(agent: Agent): Promise<Answer>;
  /** Resolves when the work behind the `count` answers is done too. */
  settle?(count: number): Promise<void>;
}

/** Answers a second on so many connections for so many seconds; the work behind them is part of the time. */
async function rate(subject: Subject, connections: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let count = 0;
  const began = performance.now();
  const end = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const { status, body } = await subject.send(agent);
        if (status !== 200) throw new Error(`${subject.name} answered ${status}: ${body}`);
        count += 1;
      }
    }),
  );
  await subject.settle?.(count);
  agent.destroy();
  return (count * 1000) / (performance.now() - began);
}

/**
 * Measures every subject once a round, in an order that turns from round to round, after one round that does
 * not count. Resolves with the rates by subject, one a round.
 */
export async function measureRounds(
  subjects: Subject[],
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<Map<string, number[]>> {
  const rates = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % subjects.length;
    for (const subject of [...subjects.slice(turn), ...subjects.slice(0, turn)]) {
      const measured = await rate(subject, connections, round === 0 ? Math.min(3, seconds) : seconds);
      if (round > 0) rates.get(subject.name)?.push(measured);
    }
  }
  return rates;
}

/** The median over the rounds of one subject's rate ÷ another's. */
export function ratioOf(rates: Map<string, number[]>, first: string, second: string): number {
  const base = rates.get(second) ?? [];
  return median((rates.get(first) ?? []).map((value, round) => value / (base[round] ?? Number.NaN)));
}
