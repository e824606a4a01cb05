import { UserError } from '../../errors.ts';
import type { SignedRequest } from '../deliveries.ts';
import { withInvocation } from '../invocation.ts';
import { onTheWire } from './multipart.ts';
import type { Sent } from './rounds.ts';

/** Longer than any sender waits. */
const TIMEOUT_MS = 60_000;

/**
 * The address of a source's webhook: `<base>/webhook/<path>`, or `/webhook-test/` for n8n's test URL.
 * @throws UserError where the base is no http address.
 */
export function webhookUrl(base: string, path: string, test: boolean): URL {
  if (!/^https?:\/\/[^/?#]+/i.test(base) || !URL.canParse(base)) {
    throw new UserError({
      message: 'The address of n8n cannot be read.',
      expected: 'such as http://127.0.0.1:5678 or https://n8n.example.com',
      remedy: 'Correct --url, or the environment variable N8N_URL.',
    });
  }
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${test ? 'webhook-test' : 'webhook'}/${path}`;
  return url;
}

/**
 * Posts one delivery and reads the answer; `test` for n8n's test URL.
 * @throws UserError where nothing answers, with what to do.
 */
export async function post(url: URL, signed: SignedRequest, test: boolean): Promise<Omit<Sent, 'ms'>> {
  const target = new URL(url);
  const request = onTheWire(signed);
  for (const [name, value] of Object.entries(request.query)) target.searchParams.set(name, value);
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: request.headers,
      body: Buffer.from(request.body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = await response.text();
    const outcome = response.headers.get('oncehook-outcome');
    return {
      status: response.status,
      outcome,
      answer,
      reason: explainAnswer({ status: response.status, outcome, answer }, test),
    };
  } catch (error) {
    throw explain(error, target);
  }
}

/** Why an answer is not 2xx: the gate's reason, or what n8n answers by itself, without our header. */
export function explainAnswer(
  { status, outcome, answer }: Pick<Sent, 'status' | 'outcome' | 'answer'>,
  test: boolean,
): string | null {
  if (outcome !== null) return status >= 400 ? errorOf(answer, outcome) : null;
  if (status === 404 && /webhook/i.test(answer)) {
    return test
      ? 'n8n does not listen on its test URL: press *Execute workflow* in the editor first; it takes one call'
      : 'n8n has no published workflow on this path: import and publish it';
  }
  if (status === 403) return "the source's list of addresses does not let this machine in";
  if (status === 422) return 'n8n could not read the body';
  if (status >= 300 && status < 400) return 'a redirect: no sender follows it';
  return 'the answer is not of the gate';
}

/** The `error` of the gate's answer; null where it says no more than the outcome, or the source's own answer has none. */
function errorOf(answer: string, outcome: string): string | null {
  try {
    const { error } = JSON.parse(answer) as { error?: unknown };
    return typeof error === 'string' && error !== outcome ? withInvocation(error) : null;
  } catch {
    return null;
  }
}

function explain(error: unknown, { origin, host, hostname }: URL): unknown {
  const cause = (error as { cause?: { code?: string } }).cause;
  const code = cause?.code ?? (error as { code?: string }).code ?? '';
  const issue = (message: string, remedy: string) => new UserError({ message, remedy });
  if ((error as Error).name === 'TimeoutError') {
    return issue(
      `${origin} has not answered within ${TIMEOUT_MS / 1000} s.`,
      'Look at n8n: the execution may still be running.',
    );
  }
  switch (code) {
    case 'ECONNREFUSED':
      return issue(
        `Nothing listens on ${host}.`,
        'Start n8n, or name its address with --url (or N8N_URL); --to-ledger does without n8n.',
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return issue(`The host "${hostname}" is unknown (${code}).`, "Check --url and this machine's DNS.");
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return issue(
        `${origin} closed the connection without an answer.`,
        'Look at the log of n8n, and of a proxy before it.',
      );
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return issue(`${origin} cannot be reached (${code}).`, 'Check --url, and firewalls on the way.');
    case 'ERR_INVALID_CHAR':
    case 'UND_ERR_INVALID_ARG':
      return issue('A header holds a character that HTTP does not allow.', 'Correct --header.');
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|ERR_TLS/.test(code)) {
    return issue(
      `The TLS connection to ${origin} failed (${code}).`,
      'Check the certificate, or whether the address should begin with http://.',
    );
  }
  if (error instanceof TypeError) {
    return issue(`${origin} cannot be spoken to${code ? ` (${code})` : ''}.`, 'Check --url and --header.');
  }
  return error;
}
