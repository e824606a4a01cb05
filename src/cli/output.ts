import { styleText } from 'node:util';

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Where a verb writes to: its result to standard output, everything else to standard error. */
export interface Output {
  /** True where the result is to be JSON. */
  readonly json: boolean;
  /** The verb's result: as text for people, or as JSON on one line for `--json`. */
  result(value: unknown, text: () => string): void;
  /** One line of a result that grows, such as a delivery. */
  line(value: unknown, text: () => string): void;
  /** A remark; never on standard output. */
  note(text: string): void;
  /** Colours only where standard output is a terminal and NO_COLOR is unset. */
  paint(style: Style, text: string): string;
}

/** The output of this process. */
export function processOutput(json: boolean): Output {
  const write = (value: unknown, text: () => string): void => {
    process.stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
  };
  return {
    json,
    result: write,
    line: write,
    note: (text) => void process.stderr.write(`${text}\n`),
    paint: (style, text) => styleText(style, text, { stream: process.stdout }),
  };
}

/**
 * A text that somebody else wrote (a key, an error), safe for a terminal: control and formatting characters
 * become visible escapes, and what is longer than `most` characters is cut.
 */
export function printable(text: string, most = 200): string {
  const safe = text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
  const characters = Array.from(safe);
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : safe;
}

/** Rows as text in columns, two blanks apart; without trailing blanks. `paint` colours one cell after measuring. */
export function table(
  rows: readonly (readonly string[])[],
  paint: (cell: string, column: number, row: number) => string = (cell) => cell,
): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Array.from(cell).length);
    }
  }
  return rows
    .map((row, index) =>
      row
        .map((cell, column) => {
          const fill = ' '.repeat((widths[column] ?? 0) - Array.from(cell).length);
          return paint(cell, column, index) + (column === row.length - 1 ? '' : fill);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `1 event`, `2 events`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
