import type { Provider } from '../../src/providers/schema.ts';
import { joined } from '../../src/providers/words.ts';
import { answerWords } from './answers.ts';
import { code, list } from './markdown.ts';

/** What a provider's page says of requests that check the address or ask for a decision. */
export function exchanges({ handshakes, questions, name }: Provider): (string | undefined)[] {
  const checks = handshakes.map(
    ({ name: called, method, when, check, answer }) =>
      `**${called}** (${method}, ${places(when)}): answered ${checked(check)}, with ${answerWords(answer)}.`,
  );
  const asks = questions.map(
    ({ name: called, when, refuse, accept }) =>
      `**${called}** (${places(when)}) asks whether something may happen. Unless the source has \`decide: true\` and a branch of yours says yes, the answer is no: ${answerWords(refuse)}. Yes is ${answerWords(accept)}.`,
  );
  return [
    checks.length === 0
      ? undefined
      : `${name} checks the address with requests that the gate answers by itself. They are never stored, and your nodes never see them.`,
    list(checks),
    list(asks),
  ];
}

function checked(check: Provider['handshakes'][number]['check']): string {
  if (check === 'signature') return 'after the same check of the signature as events';
  if (check === 'none') return 'without a check, because the answer gives nothing away';
  return `where one of the source's secrets stands at ${code(check.secret_at)}`;
}

function places(when: Provider['handshakes'][number]['when']): string {
  return joined(
    Object.entries(when).map(([place, is]) =>
      typeof is === 'object' ? `${code(place)} is ${is.is}` : `${code(place)} is ${code(String(is))}`,
    ),
  );
}
