import type { ErrorCode } from 'yaml';
import type { Issue } from '../errors.ts';

type Description = Pick<Issue, 'message' | 'expected' | 'remedy'>;

/**
 * What each of the YAML parser's error codes means to a person. The parser's own messages quote the file,
 * which may hold a secret, so none of them is passed on.
 */
const descriptions: Partial<Record<ErrorCode, Description>> = {
  TAB_AS_INDENT: {
    message: 'A tab indents this line.',
    expected: 'spaces',
    remedy: 'Replace tabs by spaces.',
  },
  DUPLICATE_KEY: {
    message: 'This key stands twice in one mapping.',
    remedy: 'Remove or rename one of them.',
  },
  BAD_INDENT: {
    message: 'The indentation does not fit the lines around it.',
    remedy: 'Align it with its neighbours.',
  },
  BAD_ALIAS: {
    message: 'This alias (*name) names no anchor (&name) above it.',
    remedy: 'Define the anchor first.',
  },
  BAD_SCALAR_START: {
    message: 'A plain value cannot start with this character.',
    remedy: 'Put it into quotes.',
  },
  BAD_DQ_ESCAPE: {
    message: 'This backslash sequence does not exist in double quotes.',
    remedy: 'Use single quotes, or double the backslash.',
  },
  MISSING_CHAR: {
    message: 'A character is missing here: a closing quote or bracket, a colon, a comma or a blank.',
    remedy: 'Complete the line.',
  },
  MULTIPLE_DOCS: {
    message: 'A second document (---) starts here.',
    expected: 'one document',
    remedy: 'Remove it.',
  },
  NON_STRING_KEY: {
    message: 'This key is not a text.',
    expected: 'a plain key',
    remedy: 'Put it into quotes.',
  },
  TAG_RESOLVE_FAILED: {
    message: 'This tag (!name), or the value under it, is not supported.',
    remedy: 'Write the value without a tag.',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'A key cannot span lines; the line above is probably missing its colon or its closing quote.',
    remedy: 'Complete the line above.',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'Two keys stand on one line, or a value that holds a colon is not quoted.',
    remedy: 'Put each key on its own line, and a value with a colon into quotes.',
  },
  UNEXPECTED_TOKEN: {
    message: 'This is not expected here.',
    remedy: 'Check quotes, brackets and indentation, here and in the line above.',
  },
};

/** A syntax error of a YAML file in plain words, without a byte of the file. */
export function describeSyntaxError(code: ErrorCode): Description {
  return (
    descriptions[code] ?? {
      message: `This is not valid YAML (${code}).`,
      remedy: 'Check quotes, brackets and indentation, here and in the line above.',
    }
  );
}
