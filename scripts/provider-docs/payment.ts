import type { Provider } from '../../src/providers/schema.ts';
import { code, list, possessive } from './markdown.ts';

/** What a provider's page says of reading a payment again. */
export function recheck({ recheck, name }: Provider): (string | undefined)[] {
  if (recheck === undefined) return [];
  const { url, auth, status, amount, currency, order } = recheck;
  const known: [string, string | undefined][] = [
    ['Call', /^[A-Z]+ /.test(url) ? url : `GET ${url}`],
    ['Who calls', auth],
    ['Paid', status],
    ['Amount', amount],
    ['Currency', currency],
    ['Your order', order],
  ];
  return [
    `Read the payment again from ${name}, and compare amount, currency and order with what you expect:`,
    list(
      known.flatMap(([label, text]) =>
        text === undefined ? [] : [`${label}: ${text.trim().replaceAll(/\s+/g, ' ')}`],
      ),
    ),
  ];
}

/** What it says of calls to the provider's own API. */
export function outgoing({ outgoing_key: rule, name }: Provider): string | undefined {
  if (rule === undefined) return undefined;
  return `Where your nodes call ${possessive(name)} API, send the header ${code(rule.header)} (at most ${rule.max_length} characters). Make it from the event's \`key\` and the name of the step, so that a run that is repeated does not act twice; shorten it by a hash where it gets too long.`;
}
