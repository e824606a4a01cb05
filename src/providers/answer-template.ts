import { splitPath } from './signed.ts';

/**
 * The text of an answer that repeats parts of the request: literal text and placeholders in braces; a brace that is
 * itself sent is written twice. Compiled to a list of parts, so that Postgres needs no parser.
 */

/** A value of the request. */
export interface AnswerValue {
  from: 'body' | 'header' | 'query';
  path: string[];
  /** The value's MAC under the source's newest secret, in hexadecimal, in place of the value. */
  as?: 'hmac-sha256';
}

/** Literal text, or a placeholder. */
export type AnswerPart = string | AnswerValue;

const placeholder = /^\{(body|header|query)((?:\.(?:[^\s."{}|]+|"[^"{}]+"))+)(?:\|(hmac-sha256))?\}$/;

/** The parts of an answer's text, or why it has none. Empty text has no parts. */
export function compileAnswer(
  text: string,
): { parts: AnswerPart[]; issue?: never } | { parts?: never; issue: string } {
  const tokens = text.match(/\{\{|\}\}|\{[^{}]*\}|[^{}]+/g) ?? [];
  if (tokens.join('') !== text)
    return { issue: 'a text such as OK{body.InvId}, in which a lone brace is written twice' };
  const parts: AnswerPart[] = [];
  for (const token of tokens) {
    const part = token === '{{' ? '{' : token === '}}' ? '}' : readPart(token);
    if (part === undefined)
      return {
        issue:
          'no other placeholder than {body.path}, {header.name} and {query.name}, each also with |hmac-sha256',
      };
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else parts.push(part);
  }
  return { parts };
}

function readPart(token: string): AnswerPart | undefined {
  if (!token.startsWith('{')) return token;
  const [, from, path = '', as] = placeholder.exec(token) ?? [];
  if (from === undefined) return undefined;
  const steps = splitPath(path);
  if (from !== 'body' && steps.length > 1) return undefined;
  return {
    from: from as AnswerValue['from'],
    path: from === 'header' ? steps.map((name) => name.toLowerCase()) : steps,
    ...(as === undefined ? {} : { as: as as NonNullable<AnswerValue['as']> }),
  };
}
