import { durationSeconds } from '../../src/input/duration.ts';
import type { Provider } from '../../src/providers/schema.ts';
import { list, sentence } from './markdown.ts';

/** What a provider's page says of tries, and of what a 503 means for it. */
export function retries({ name, retry, answers }: Provider): (string | undefined)[] {
  const { window, timeout, schedule, success, resend, never } = retry;
  const facts: [string, string | null | undefined][] = [
    ['How', schedule && sentence(schedule)],
    ['For how long', never ? 'not at all.' : window ? `${words(window)}.` : `${name} does not say.`],
    ['It waits for an answer', timeout ? `${words(timeout)}.` : `${name} does not say how long.`],
    ['What ends its tries', sentence(success)],
    ['By hand, an event can be sent again for', resend && `${words(resend)}.`],
  ];
  const refused = answers.rejected?.status ?? 401;
  return [
    list(
      facts.filter((fact): fact is [string, string] => !!fact[1]).map(([label, text]) => `${label}: ${text}`),
    ),
    never
      ? `**A 503 loses the event.** ${name} does not send it again, so while the database cannot be reached, events are lost. Keep the database close to n8n, watch it, and read from ${name} afterwards what you missed.`
      : `A 503 (the database cannot be reached) is safe: ${name} sends the event again${window ? `, for up to ${words(window)}` : ''}.${
          window && (durationSeconds(window) ?? 0) < 600
            ? ' That is short. After a longer outage, read from the sender what you missed.'
            : ''
        }`,
    refused === 401 || never ? undefined : `A refused request gets ${refused}.`,
  ];
}

const units: Record<string, string> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

/** `24h` as `24 hours`. */
function words(duration: string): string {
  const amount = Number(duration.slice(0, -1));
  const unit = units[duration.slice(-1)] ?? '';
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
