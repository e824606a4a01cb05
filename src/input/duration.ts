import { z } from 'zod';

const secondsPerUnit = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const pattern = /^([1-9][0-9]{0,8})([smhd])$/;

/** A duration as people write it: a whole number and one unit, e.g. `90s`, `15m`, `2h`, `30d`. */
export const durationSchema = z
  .string({ error: 'a duration such as 15m' })
  .regex(pattern, { error: 'a duration such as 90s, 15m, 2h or 30d', abort: true });

/** The seconds of a duration such as `15m`; undefined where the text is none. */
export function durationSeconds(text: string): number | undefined {
  const [, amount, unit] = pattern.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  return Number(amount) * secondsPerUnit[unit as keyof typeof secondsPerUnit];
}

/** The shortest exact spelling of a number of whole seconds: 900 is `15m`, 90 is `90s`. */
export function formatDuration(seconds: number): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (seconds > 0 && seconds % secondsPerUnit[unit] === 0)
      return `${seconds / secondsPerUnit[unit]}${unit}`;
  }
  return `${seconds}s`;
}

/** A duration between two others, both allowed; the bounds are written as durations too. */
export function durationBetween(shortest: string, longest: string) {
  const least = durationSeconds(shortest) ?? 0;
  const most = durationSeconds(longest) ?? Number.POSITIVE_INFINITY;
  return durationSchema.refine(
    (text) => {
      const seconds = durationSeconds(text);
      return seconds !== undefined && seconds >= least && seconds <= most;
    },
    { error: `a duration from ${shortest} to ${longest}` },
  );
}
