/** Small pieces of Markdown. */

/** Paragraphs, lists and tables of a page, with an empty line between them; what is undefined is left out. */
export function blocks(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

/** A section with its heading; undefined where it has nothing to say. */
export function section(title: string, ...parts: (string | undefined)[]): string | undefined {
  const text = blocks(...parts);
  return text === '' ? undefined : `## ${title}\n\n${text}`;
}

export function list(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : items.map((item) => `- ${indented(item, 2)}`).join('\n');
}

export function numbered(items: readonly string[]): string | undefined {
  return items.length === 0
    ? undefined
    : items.map((item, index) => `${index + 1}. ${indented(item, 3)}`).join('\n');
}

/** A table; cells are single lines. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Text as code inside of a line. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** A sentence of a provider file as one line that begins with a capital letter and ends with a full stop. */
export function sentence(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ');
  const ended = /[.!?:…]$/.test(line) ? line : `${line}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`);
}
