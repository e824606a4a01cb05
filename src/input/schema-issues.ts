import type { z } from 'zod';
import type { Issue } from '../errors.ts';
import { choicesAt, keysAt, type Schema, valueAt } from './schema-walk.ts';
import { printable, suggest } from './suggest.ts';
import { maxIssues, type Path, type Position } from './yaml.ts';

/** Where a value stands: a YAML file, or anything that can name less of a place. */
export interface Located {
  locate(path: Path): Partial<Position>;
  locateKey(path: Path): Partial<Position>;
}

const typeNames: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping (key: value)',
  record: 'a mapping (key: value)',
};

/** A better remedy for the value at a path of the file than the general one; undefined where there is none. */
export type Hint = (path: Path, given: unknown) => string | undefined;

/** A path as messages show it: `sources.stripe.secrets.0`. */
export function showPath(path: Path): string {
  return path.map((step) => printable(String(step))).join('.');
}

/**
 * Checks a value against a zod schema: either the parsed value, or every issue with its place. A schema's own
 * error texts are written as expectations ("a duration such as 15m"); no value stands in an issue, for it may
 * be a secret that was put in the wrong place. `prefix` is the value's path in its file; `hint` knows better
 * remedies for some of its values.
 */
export function check<T extends z.ZodType>(
  schema: T,
  value: unknown,
  at: Located,
  prefix: Path = [],
  hint: Hint = () => undefined,
): { value: z.output<T>; issues: [] } | { issues: Issue[] } {
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data, issues: [] };
  const all = result.error.issues;
  // zod measures a text where a list should be; once the kind is wrong, its length says nothing.
  const wrongKind = new Set(
    all.flatMap(({ code, path }) => (code === 'invalid_type' ? [showPath(path)] : [])),
  );
  const telling = all.filter(({ code, path }) => !code.startsWith('too_') || !wrongKind.has(showPath(path)));
  const issues = telling
    .slice(0, maxIssues)
    .flatMap((issue) => explain(issue, schema, value, at, prefix, hint));
  return { issues: issues.slice(0, maxIssues) };
}

function explain(
  issue: z.core.$ZodIssue,
  schema: Schema,
  value: unknown,
  at: Located,
  prefix: Path,
  hint: Hint,
): Issue[] {
  const path = [...prefix, ...issue.path];
  const here = { ...at.locate(path), path: showPath(path) };
  const remedy = hint(path, valueAt(value, issue.path));
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(schema, issue.path, value);
      return issue.keys.slice(0, maxIssues).map((key) => ({
        ...at.locateKey([...path, key]),
        path: showPath([...path, cutKey(key)]),
        message: `There is no setting ${printable(cutKey(key))} here.`,
        ...oneOf(key, known),
        ...better(hint([...path, key], valueAt(value, [...issue.path, key]))),
      }));
    }
    case 'invalid_type': {
      const given = valueAt(value, issue.path);
      // A schema's own text says more than the kind; zod's begins like this.
      const own = issue.message.startsWith('Invalid input') ? undefined : issue.message;
      const expected = own ?? typeNames[issue.expected] ?? issue.expected;
      if (given === undefined) {
        return [{ ...here, message: 'This setting is missing.', expected, remedy: remedy ?? 'Add it.' }];
      }
      const message = `This is ${typeName(given)}.`;
      return [{ ...here, message, expected, remedy: remedy ?? 'Correct the value.' }];
    }
    case 'invalid_value':
      return [{ ...here, ...unlisted(valueAt(value, issue.path), issue.values, remedy) }];
    case 'invalid_union':
      // Of a union with a discriminator zod names the key that did not match; the others have a text of their own.
      return issue.discriminator
        ? [{ ...here, ...unlisted(valueAt(value, issue.path), choicesAt(schema, issue.path, value), remedy) }]
        : [
            {
              ...here,
              message: 'This value does not fit.',
              expected: issue.message,
              remedy: remedy ?? 'Correct the value.',
            },
          ];
    case 'invalid_key': {
      const expected = issue.issues.map((inner) => inner.message).join('; ');
      const place = { ...at.locateKey(path), path: showPath(path) };
      return [{ ...place, message: 'This name is not allowed.', expected, remedy: 'Rename it.' }];
    }
    case 'too_big':
    case 'too_small': {
      const most = issue.code === 'too_big';
      const bound = `${most ? 'at most' : 'at least'} ${most ? issue.maximum : issue.minimum}`;
      const unit = issue.origin === 'string' ? ' characters' : issue.origin === 'array' ? ' entries' : '';
      const message = most ? 'This is too much.' : 'This is too little.';
      return [{ ...here, message, expected: bound + unit, remedy: 'Correct the value.' }];
    }
    default:
      return [
        {
          ...here,
          message: 'This value does not fit.',
          expected: issue.message,
          remedy: remedy ?? 'Correct the value.',
        },
      ];
  }
}

function better(remedy: string | undefined): Pick<Issue, 'remedy'> {
  return remedy === undefined ? {} : { remedy };
}

/** No setting has so long a name: it may be a value, even a secret, that slipped into a key's place. */
function cutKey(key: string): string {
  return key.length > 20 ? `${key.slice(0, 3)}...` : key;
}

/** "One of a, b" with the nearest first; the word itself is left out, for it may be a secret. */
export function oneOf(word: unknown, known: readonly unknown[]): Pick<Issue, 'expected' | 'remedy'> {
  const words = known.map(String);
  const near = typeof word === 'string' ? suggest(word, words) : undefined;
  return {
    expected: words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`,
    remedy: near ? `Did you mean ${near}?` : 'Use one of these.',
  };
}

/** What to say of a value that is none of those known, or is not there. */
function unlisted(
  given: unknown,
  known: readonly unknown[],
  remedy: string | undefined,
): Pick<Issue, 'message' | 'expected' | 'remedy'> {
  const missing = given === undefined;
  return {
    message: missing ? 'This setting is missing.' : 'This value is not known.',
    ...oneOf(given, known),
    ...(missing ? { remedy: remedy ?? 'Add it.' } : {}),
  };
}

function typeName(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return typeNames[typeof value] ?? typeof value;
}

/** Issues in the order of the file. */
export function byPlace(issues: readonly Issue[]): Issue[] {
  return issues.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
