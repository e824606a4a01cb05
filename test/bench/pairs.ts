/** One measured side of a pair: operations a second. */
export type Side = () => Promise<number>;

export interface Ratio {
  name: string;
  /** Median over the pairs of first ÷ second. */
  ratio: number;
  /** Medians, operations a second. */
  first: number;
  second: number;
}

/** The middle value; of an even number the upper of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/**
 * Measures two sides in turn, the order changing from pair to pair, so that what slows the machine for a
 * while slows both. The first pair warms up and is not counted.
 */
export async function measurePairs(name: string, first: Side, second: Side, pairs: number): Promise<Ratio> {
  const seen: { first: number; second: number }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const rates = { first: 0, second: 0 };
    for (const side of pair % 2 ? (['first', 'second'] as const) : (['second', 'first'] as const)) {
      rates[side] = await (side === 'first' ? first : second)();
    }
    if (pair > 0) seen.push(rates);
  }
  return {
    name,
    ratio: median(seen.map((rates) => rates.first / rates.second)),
    first: median(seen.map((rates) => rates.first)),
    second: median(seen.map((rates) => rates.second)),
  };
}

/** A table for people, then one JSON object on the last line for programs. */
export function printRatios(ratios: readonly Ratio[], wanted: Record<string, number>): void {
  console.log('| measured | ratio | wanted | first, a second | second, a second |');
  console.log('|---|---|---|---|---|');
  for (const { name, ratio, first, second } of ratios) {
    const least = wanted[name] === undefined ? '' : `≥ ${wanted[name]}`;
    console.log(`| ${name} | ${ratio.toFixed(2)} | ${least} | ${first.toFixed(0)} | ${second.toFixed(0)} |`);
  }
  console.log(
    JSON.stringify(Object.fromEntries(ratios.map(({ name, ratio }) => [name, Number(ratio.toFixed(3))]))),
  );
}
