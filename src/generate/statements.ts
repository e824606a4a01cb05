import { Bug } from '../errors.ts';
import { readTemplate } from '../templates.ts';

/** The statements of the Postgres nodes, and how many parameters each takes. */
const PARAMETERS = {
  claim: 9,
  'claim-items': 9,
  'claim-delivery': 9,
  'claim-object': 8,
  'claim-replay': 5,
  'claim-replay-delivery': 5,
  'mark-success': 2,
  'mark-failed': 6,
} as const;

export type StatementName = keyof typeof PARAMETERS;

/** The SQL of every Postgres node, by its file's name under `templates/sql`. */
export type Statements = Record<StatementName, string>;

/** Reads and checks all statements. Throws a Bug for one that n8n would change on its way to Postgres. */
export function readStatements(): Statements {
  const names = Object.keys(PARAMETERS) as StatementName[];
  return Object.fromEntries(
    names.map((name) => [name, checkStatement(name, readTemplate(`sql/${name}.sql`))]),
  ) as Statements;
}

/**
 * The statement's text without space at its end. Throws a Bug where n8n's Postgres node, which writes the
 * values into the text by itself (pg-promise's rules), would make something else of it.
 */
export function checkStatement(name: StatementName, sql: string): string {
  const problems = [
    [/\{\{/, 'holds "{{": n8n would paste an expression into the SQL'],
    [/\$\$|\$[a-z_]\w*\$/i, 'holds a dollar quote: n8n would change it'],
    [/--.*\$[0-9]/, 'names a parameter in a comment: n8n would write its value there, line breaks and all'],
    [/\/\*/, 'holds a block comment'],
    [
      /\$[0-9]+\s*(\^|~|#|:(raw|alias|name|json|csv|list|value)\b)/,
      'holds what pg-promise takes for a filter',
    ],
  ] as const;
  for (const [pattern, problem] of problems) {
    if (pattern.test(sql)) {
      throw new Bug(`templates/sql/${name}.sql ${problem}`);
    }
  }
  const before = sql.replace(/--.*/g, '').split(';').slice(0, -1);
  if (before.some((statement) => !/^\s*INSERT\b/.test(statement) || /\bRETURNING\b/.test(statement))) {
    throw new Bug(
      `templates/sql/${name}.sql holds a statement before its last one that gives rows: one delivery, one row`,
    );
  }
  const used = new Set([...sql.matchAll(/\$([0-9]+)/g)].map(([, number]) => Number(number)));
  const wanted = PARAMETERS[name];
  if (used.size !== wanted || Math.max(...used) !== wanted) {
    throw new Bug(`templates/sql/${name}.sql must use $1 to $${wanted}, each of them`);
  }
  return sql.trimEnd();
}
