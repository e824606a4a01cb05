import { type AnswerPart, compileAnswer } from './answer-template.ts';
import type { Provider } from './schema.ts';
import { splitPath } from './signed.ts';

/** Handshakes, questions, guards and answers in the form that `webhook_sources` stores and that the gate works by. */

/** What must stand at a place of a request. */
export interface Condition {
  from: 'body' | 'header' | 'query';
  path: string[];
  is: 'value' | 'present' | 'absent' | 'empty';
  /** As text, where `is` says `value`. */
  value?: string;
}

/** An answer whose text needs no parser any more: `body` as it is sent, or `parts` to be filled in. */
export interface CompiledAnswer {
  status?: number;
  content_type?: string;
  body?: string;
  parts?: AnswerPart[];
  /** With `parts`: values stand in a JSON text. */
  json?: boolean;
}

interface CompiledRequest {
  name: string;
  method: 'POST' | 'GET';
  when: Condition[];
}

export interface CompiledHandshake extends CompiledRequest {
  check: 'signature' | 'none' | Pick<Condition, 'from' | 'path'>;
  /** The only fields that the body may have. */
  exact?: string[];
  answer: CompiledAnswer;
}

export interface CompiledQuestion extends CompiledRequest {
  refuse: CompiledAnswer;
}

/** This file's part of a source's rules. */
export interface ExchangeRules {
  handshakes?: CompiledHandshake[];
  questions?: CompiledQuestion[];
  /** A body that came before is no new event, whatever its id. */
  guard?: true;
  /** Answers of outcomes repeat parts of the request. */
  repeats?: true;
}

type Exchanged = Pick<Provider, 'handshakes' | 'questions' | 'answers' | 'guard'>;
type Answer = NonNullable<Provider['answers']['new']>;

/** `guard` is the source's own word, where it has one. */
export function compileExchange(provider: Exchanged, guard: boolean | undefined): ExchangeRules {
  const { handshakes, questions, answers } = provider;
  const rules: ExchangeRules = {};
  if (handshakes.length > 0)
    rules.handshakes = handshakes.map(({ name, method, when, check, exact, answer }) => {
      const conditions = compileWhen(when);
      const named = conditions.filter(({ from }) => from === 'body').map(({ path }) => path[0] ?? '');
      return {
        name,
        method,
        when: conditions,
        check: typeof check === 'string' ? check : compilePlace(check.secret_at),
        ...(exact ? { exact: [...new Set(named)] } : {}),
        answer: compileOne(answer),
      };
    });
  if (questions.length > 0)
    rules.questions = questions.map(({ name, when, refuse }) => ({
      name,
      method: 'POST',
      when: compileWhen(when),
      refuse: compileOne(refuse),
    }));
  if (guard ?? provider.guard === 'on') rules.guard = true;
  if (Object.values(compileAnswers(answers)).some(({ parts }) => parts)) rules.repeats = true;
  return rules;
}

/** The answers of outcomes, as `webhook_sources.answers` holds them. */
export function compileAnswers(answers: Provider['answers']): Record<string, CompiledAnswer> {
  return Object.fromEntries(
    Object.entries(answers).map(([outcome, answer]) => [outcome, compileOne(answer)]),
  );
}

/** One answer. A value of the request never stands in what a browser would take for a page. */
export function compileOne({ status, body, content_type }: Answer): CompiledAnswer {
  const parts = body === undefined ? undefined : (compileAnswer(body).parts ?? []);
  const repeats = parts?.some((part) => typeof part !== 'string') ?? false;
  const json = content_type === undefined || /[/+]json\b/i.test(content_type);
  const type =
    repeats && !json && !/^text\/plain\b/i.test(content_type) ? 'text/plain; charset=utf-8' : content_type;
  return {
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { content_type: type }),
    ...(parts === undefined ? {} : repeats ? { parts, json } : { body: parts.join('') }),
  };
}

function compileWhen(when: Provider['questions'][number]['when']): Condition[] {
  return Object.entries(when).map(([place, expected]) => ({
    ...compilePlace(place),
    ...(typeof expected === 'object' ? expected : { is: 'value' as const, value: String(expected) }),
  }));
}

function compilePlace(place: string): Pick<Condition, 'from' | 'path'> {
  const [from = '', ...path] = splitPath(place);
  return {
    from: from as Condition['from'],
    path: from === 'header' ? path.map((name) => name.toLowerCase()) : path,
  };
}
