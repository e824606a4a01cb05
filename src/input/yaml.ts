import { readFile, stat } from 'node:fs/promises';
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { type Issue, UserError } from '../errors.ts';
import { describeSyntaxError } from './yaml-errors.ts';
import { syntaxIssues } from './yaml-indent.ts';
import { locator, type Path, type Position, start } from './yaml-locate.ts';

export type { Path, Position } from './yaml-locate.ts';

/** A YAML file that was read: its plain value, and where each part of it stands. */
export interface YamlFile {
  file: string;
  /** Plain objects, arrays, strings, numbers, booleans and null; aliases resolved. */
  value: unknown;
  /** Where the value at a path stands; where there is none, the key of the nearest parent that exists. */
  locate(path: Path): Position;
  /** Where the key stands that a path ends in, or else what `locate` says. */
  locateKey(path: Path): Position;
  /** Where a line and column (from 1) of the text at a path stand; exact for block text (`|`) and plain text. */
  locateText(path: Path, line: number, column: number): Position;
}

/** No file that people write by hand is near this; a larger one is a mistake, or meant to keep the parser busy. */
const maxBytes = 250_000;
const maxAliases = 100;
/** As many as a person reads at once. */
export const maxIssues = 100;
const expected = `at most ${maxAliases} values by way of aliases`;

/**
 * Reads a YAML file. `file` is the path as the user named it.
 * @throws UserError where it is missing, unreadable, too large, not UTF-8, empty, or not YAML (every syntax
 * error at once, with its line).
 */
export async function readYaml(file: string, missing: string): Promise<YamlFile> {
  let bytes: Uint8Array;
  try {
    const { size } = await stat(file);
    if (size > maxBytes) throw tooLarge(file);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw unreadable(file, (error as NodeJS.ErrnoException).code, missing);
  }
  return parseYaml(decode(bytes, file), file);
}

function tooLarge(file: string): UserError {
  return new UserError({
    file,
    message: 'The file is too large.',
    expected: `at most ${maxBytes / 1_000} kB`,
    remedy: 'Check that this is the file you meant.',
  });
}

function unreadable(file: string, code: string | undefined, missing: string): UserError {
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new UserError({ file, message: 'There is no such file.', remedy: missing });
  }
  if (code === 'EISDIR') {
    return new UserError({ file, message: 'This is a folder, not a file.', remedy: 'Name the file in it.' });
  }
  return new UserError({
    file,
    message: `The file cannot be read${code ? ` (${code})` : ''}.`,
    remedy: 'Check its permissions.',
  });
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const lenient = new TextDecoder('utf-8').decode(bytes);
    const line = lenient.slice(0, lenient.indexOf('\ufffd')).split('\n').length;
    throw new UserError({
      file,
      line,
      message: 'The file is not UTF-8 text.',
      expected: 'UTF-8',
      remedy: 'Save it again as UTF-8.',
    });
  }
}

/**
 * Parses YAML text; `file` only names it in errors.
 * @throws UserError with every syntax error. The file's own text never stands in a message, for it may hold
 * a secret.
 */
export function parseYaml(text: string, file: string): YamlFile {
  if (text.length > maxBytes) throw tooLarge(file);
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(Math.max(0, offset));
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = compose(text, file, lines);
  const problems = [...document.errors, ...document.warnings];
  if (problems.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) throw tooDeep(file);
  const [first, ...rest] = [
    ...syntaxIssues(problems.slice(0, maxIssues), text, at),
    ...inspect(document, at),
  ].slice(0, maxIssues);
  if (first) throw new UserError(first, ...rest);
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    throw new UserError({
      file,
      line: 1,
      message: 'The file is empty.',
      expected: 'a mapping (key: value)',
      remedy: 'Write the settings into it, or check that this is the file you meant.',
    });
  }
  return { file, value: plain(document, file), ...locator(document, text, at) };
}

/**
 * What the parser lets pass: keys that stand twice (its own search for them takes time with the square of their
 * number), a key that zod would pass over without a word, and aliases that lead nowhere or unfold without end.
 */
function inspect(document: Document, at: (offset: number) => Position): Issue[] {
  const issues: Issue[] = [];
  let aliases = 0;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) issues.push({ ...at(start(key)), ...describeSyntaxError('DUPLICATE_KEY') });
        if (name === '__proto__') {
          issues.push({
            ...at(start(key)),
            message: 'This key is not allowed.',
            remedy: 'Remove or rename it.',
          });
        }
        seen.add(name);
      }
    },
    Alias(_, alias) {
      aliases += 1;
      if (aliases > maxAliases) {
        const remedy = 'Write the values out.';
        issues.push({
          ...at(start(alias)),
          message: 'There are too many aliases (*name).',
          expected,
          remedy,
        });
        return visit.BREAK;
      }
      if (!alias.resolve(document)) issues.push({ ...at(start(alias)), ...describeSyntaxError('BAD_ALIAS') });
      return undefined;
    },
  });
  return issues;
}

function compose(text: string, file: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true, uniqueKeys: false });
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(file);
    throw error;
  }
}

function plain(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(file);
    if (!(error instanceof ReferenceError)) throw error;
    throw new UserError({
      file,
      line: 1,
      message: 'The aliases (*name) of this file would unfold to a very large value.',
      expected,
      remedy: 'Write the values out.',
    });
  }
}

function tooDeep(file: string): UserError {
  return new UserError({
    file,
    line: 1,
    message: 'The file is nested too deeply to be read.',
    remedy: 'Check that this is the file you meant.',
  });
}
