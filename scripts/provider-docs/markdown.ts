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

/** `Mollie's`, `Discord interactions'`. */
export function possessive(name: string): string {
  return name.endsWith('s') ? `${name}'` : `${name}'s`;
}

/** Text as code inside of a line. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** A text of a provider file as one line that ends with a full stop. */
export function ended(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ');
  return /[.!?:…]$/.test(line) ? line : `${line}.`;
}

/** The same, beginning with a capital letter. */
export function sentence(text: string): string {
  const line = ended(text);
  return line.charAt(0).toUpperCase() + line.slice(1);
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`);
}
