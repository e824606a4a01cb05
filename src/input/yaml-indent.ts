import type { YAMLError } from 'yaml';
import type { Issue } from '../errors.ts';
import { describeSyntaxError } from './yaml-errors.ts';
import type { Position } from './yaml-locate.ts';

type Description = Pick<Issue, 'message' | 'expected' | 'remedy'>;

/** One line of the file as far as its indentation matters. */
interface Line {
  indent: number;
  /** Blank, or a comment. */
  empty: boolean;
  text: string;
}

/** Codes by which the parser reports a line that is not in the column of its neighbours, among other things. */
const indentCodes = new Set(['BAD_INDENT', 'BLOCK_AS_IMPLICIT_KEY', 'MULTILINE_IMPLICIT_KEY']);

/**
 * The parser's problems as issues, in the order of the file: one a line, and one for what a wrong indentation leads
 * to in the lines below it. No byte of the file stands in them but the name of a setting with block text.
 */
export function syntaxIssues(
  problems: readonly YAMLError[],
  text: string,
  at: (offset: number) => Position,
): Issue[] {
  const lines = text.split('\n').map(readLine);
  const placed = problems
    .map(({ code, pos }) => ({ code, place: at(pos[0]) }))
    .sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
  const seen = new Set<number>();
  const issues: Issue[] = [];
  // The last line that a wrong indentation above explains.
  let explained = 0;
  for (const { code: given, place } of placed) {
    // Whatever the parser makes of a line that a tab indents, the tab is what is wrong with it.
    const code = /^ *\t/.test(lines[place.line - 1]?.text ?? '') ? 'TAB_AS_INDENT' : given;
    const block = code === 'TAB_AS_INDENT' ? undefined : blockText(lines, place.line);
    // A blank line and the one below it are one token to the parser.
    const line = block?.line ?? (indentCodes.has(code) ? filledFrom(lines, place.line) : place.line);
    if (seen.has(line)) continue;
    const indentation = block ? undefined : indentIssue(code, lines, line);
    if (line <= explained && indentCodes.has(code)) continue;
    seen.add(line);
    if (indentation) explained = endOfBlock(lines, line, indentation.least);
    const { message, ...rest } = block?.says ?? indentation?.says ?? describeSyntaxError(code);
    const where =
      block || indentation ? { ...place, line, column: (lines[line - 1]?.indent ?? 0) + 1 } : place;
    issues.push({ ...where, message, ...rest });
  }
  return issues;
}

function readLine(raw: string): Line {
  const text = raw.replace(/\r$/, '');
  const indent = text.length - text.replace(/^ +/, '').length;
  return { indent, empty: /^\s*(#.*)?$/.test(text), text };
}

/** Text that should stand below `key: |` and is not indented deeper than it: the first line of it. */
function blockText(lines: Line[], number: number): { line: number; says: Description } | undefined {
  // No recipe has more lines; what is further up is not worth the time.
  for (let index = number - 1; index > Math.max(0, number - 50); index -= 1) {
    const line = lines[index];
    // Another setting: what is wrong with it has nothing to do with a text above.
    if (!line || line.empty || /^\s*[\w-]+\s*:(\s|$)/.test(line.text)) return undefined;
    const above = lastFilled(lines, index);
    const [, key] = /^\s*(?:- +)?([\w-]+)\s*:\s*[|>][-+0-9]*\s*(?:#.*)?$/.exec(above?.text ?? '') ?? [];
    if (above && key !== undefined) {
      if (line.indent > above.indent) return undefined;
      // No setting has a longer name, and what is longer may be a secret.
      const shown = key.length <= 20 ? `\`${key}:\`` : 'the key above';
      return {
        line: index + 1,
        says: {
          message: `This text belongs to ${shown}, but is not indented deeper than it.`,
          remedy: `Indent the lines of the recipe deeper than ${shown}.`,
        },
      };
    }
  }
  return undefined;
}

/** Two neighbouring lines that should start in one column; `least` is the smaller indentation of the two. */
function indentIssue(
  code: string,
  lines: Line[],
  number: number,
): { says: Description; least: number } | undefined {
  const line = lines[number - 1];
  if (!line || !indentCodes.has(code)) return undefined;
  const next = lines.slice(number).find(({ empty }) => !empty);
  const says = (which: string, other: number): Description => ({
    message: `This line is indented by ${line.indent}, ${which} by ${other}.`,
    expected: 'the settings of one mapping, such as one source, in the same column',
    remedy: 'Indent both lines by the same number of spaces.',
  });
  if (code !== 'BAD_INDENT' && next && next.indent > line.indent) {
    return { says: says('the next', next.indent), least: line.indent };
  }
  const above = lastFilled(lines, number - 1);
  if (!above || above.indent <= line.indent || hasColumn(lines, number)) return undefined;
  return { says: says('the one above', above.indent), least: line.indent };
}

/** Whether a line above, in the same or an outer mapping, starts in this line's column. */
function hasColumn(lines: Line[], number: number): boolean {
  const indent = lines[number - 1]?.indent ?? 0;
  const outer = lines.slice(0, number - 1).findLast((line) => !line.empty && line.indent <= indent);
  return outer?.indent === indent;
}

/** The line of this number or, where it is empty, the next one that is not. */
function filledFrom(lines: Line[], number: number): number {
  const index = lines.findIndex(({ empty }, at) => at >= number - 1 && !empty);
  return index === -1 ? number : index + 1;
}

function lastFilled(lines: Line[], before: number): Line | undefined {
  for (let index = before - 1; index >= 0; index -= 1) {
    if (lines[index]?.empty === false) return lines[index];
  }
  return undefined;
}

function endOfBlock(lines: Line[], number: number, least: number): number {
  const end = lines.findIndex((line, index) => index >= number && !line.empty && line.indent < least);
  return end === -1 ? lines.length : end;
}
