import { UserError } from '../errors.ts';

/**
 * The grammar of recipes: what names an event (`key`), its kind (`type`) and its object (`object`). Recipes are
 * evaluated in Postgres alone, so that one place makes keys; here they are only read, checked and printed.
 */

/** A piece of an alternative. A header's name is in lower case; body steps are object keys or array indexes. */
export type RecipePart =
  | { kind: 'text'; text: string }
  | { kind: 'body'; path: string[] }
  | { kind: 'header'; name: string }
  | { kind: 'query'; name: string }
  | { kind: 'body_sha256' };

/** Alternatives in the order in which they are tried. */
export type Recipe = RecipePart[][];

/** Line and column count from 1 inside the recipe's text. */
export interface RecipeIssue {
  message: string;
  line: number;
  column: number;
}

const forms = '{body.id}, {header.x-event-id}, {query.id} or {body_sha256}';
const bareStep = /[^\s."{}]+/y;
const quotedStep = /"([^"\r\n]+)"/y;

/** Thrown and caught in here, with the place inside the alternative. */
function malformed(message: string, offset: number): UserError {
  return new UserError({ message, column: offset + 1 });
}

/**
 * Reads a recipe: each non-empty line is an alternative, in which placeholders stand between literal text.
 * Returns the alternatives, or every issue (one a line at most).
 */
export function parseRecipe(
  text: string,
): { recipe: Recipe; issues: [] } | { issues: [RecipeIssue, ...RecipeIssue[]] } {
  const recipe: Recipe = [];
  const issues: RecipeIssue[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    // Blanks and tabs alone are trimmed, as in Postgres; other white space is literal text.
    const [, shift = '', alternative = ''] = /^([ \t]*)(.*?)[ \t\r]*$/.exec(line) ?? [];
    if (alternative === '') continue;
    try {
      recipe.push(parseAlternative(alternative));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const [{ message, column = 1 }] = error.issues;
      issues.push({ message, line: index + 1, column: shift.length + column });
    }
  }
  if (recipe.length === 0 && issues.length === 0) {
    issues.push({ message: `the recipe is empty; write for example ${forms}`, line: 1, column: 1 });
  }
  const [first, ...rest] = issues;
  return first ? { issues: [first, ...rest] } : { recipe, issues: [] };
}

function parseAlternative(line: string): RecipePart[] {
  const parts: RecipePart[] = [];
  // Nobody means them, and Postgres takes no NUL in a text.
  const control = line.search(/\p{Cc}/u);
  if (control !== -1) throw malformed('a control character', control);
  for (let offset = 0; offset < line.length; ) {
    const [part, end] = line[offset] === '{' ? placeholder(line, offset) : literal(line, offset);
    checkNeighbours(parts, part, offset);
    parts.push(part);
    offset = end;
  }
  if (parts.every(({ kind }) => kind === 'text')) {
    throw malformed(
      `no placeholder, so that every event would get the same value; write for example ${forms}`,
      0,
    );
  }
  return parts;
}

function literal(line: string, offset: number): [RecipePart, number] {
  const brace = line.slice(offset).search(/[{}]/);
  const end = brace === -1 ? line.length : offset + brace;
  if (line[end] === '}') throw malformed('a closing brace without an opening one', end);
  return [{ kind: 'text', text: line.slice(offset, end) }, end];
}

// Values are escaped so that a `:` between two of them can come from the recipe alone: without it, "1" and "23"
// would give the same key as "12" and "3".
function checkNeighbours(before: RecipePart[], part: RecipePart, offset: number): void {
  if (part.kind === 'text') return;
  const between = before.at(-1);
  const earlier = before.some(({ kind }) => kind !== 'text');
  if (earlier && !(between?.kind === 'text' && /^([^:\\]|\\.)*:/.test(between.text))) {
    throw malformed(
      'two placeholders need a colon between them, so that different parts never give one key',
      offset,
    );
  }
}

function placeholder(line: string, offset: number): [RecipePart, number] {
  if (line.startsWith('{body_sha256}', offset)) return [{ kind: 'body_sha256' }, offset + 13];
  const [, kind] = /^\{(body|header|query)\./.exec(line.slice(offset)) ?? [];
  if (kind === undefined) throw malformed(`an unknown placeholder; known are ${forms}`, offset);
  const [path, end] = steps(line, offset + kind.length + 2);
  if (line[end] !== '}') throw malformed('the placeholder does not end in a closing brace here', end);
  if (kind === 'body') return [{ kind, path }, end + 1];
  const [name, ...more] = path;
  if (name === undefined || more.length > 0) {
    throw malformed(`a ${kind} name has no steps; put a name with a dot in quotes: {${kind}."a.b"}`, offset);
  }
  return [kind === 'header' ? { kind, name: name.toLowerCase() } : { kind: 'query', name }, end + 1];
}

function steps(line: string, start: number): [string[], number] {
  const path: string[] = [];
  let offset = start;
  for (;;) {
    const pattern = line[offset] === '"' ? quotedStep : bareStep;
    pattern.lastIndex = offset;
    const match = pattern.exec(line);
    if (!match)
      throw malformed('a name is missing here (a name with a dot or a brace goes in double quotes)', offset);
    path.push(match[1] ?? match[0]);
    offset = pattern.lastIndex;
    if (line[offset] !== '.') return [path, offset];
    offset += 1;
  }
}

/** The text of a recipe, one alternative a line: `parseRecipe(printRecipe(r))` gives `r`. */
export function printRecipe(recipe: Recipe): string {
  return recipe.map((alternative) => alternative.map(printPart).join('')).join('\n');
}

function printPart(part: RecipePart): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'body_sha256':
      return '{body_sha256}';
    case 'body':
      return `{body.${part.path.map(printStep).join('.')}}`;
    default:
      return `{${part.kind}.${printStep(part.name)}}`;
  }
}

function printStep(step: string): string {
  return /^[^\s."{}]+$/.test(step) ? step : `"${step}"`;
}
