import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bug } from '../errors.ts';
import { templatePath } from '../templates.ts';

/** One file of `templates/migrations`. */
export interface Migration {
  /** The file's name without `.sql`; the name under which the database knows it. */
  name: string;
  /** Absolute path. */
  file: string;
  sql: string;
  /** SHA-256 of the text with line endings as `\n`, in hexadecimal. */
  sha256: string;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** The migrations of this package in the order in which they run. Throws Bug for a file that is out of order. */
export function readMigrations(folder: string = templatePath('migrations')): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  for (const [index, name] of names.entries()) {
    const number = FILE_NAME.exec(name)?.[1];
    if (Number(number) !== index + 1) {
      throw new Bug(
        `${join(folder, name)}: expected number ${String(index + 1).padStart(4, '0')} (NNNN_lower_case.sql)`,
      );
    }
  }
  return names.map((name) => {
    const file = join(folder, name);
    const sql = readFileSync(file, 'utf8');
    return { name: name.slice(0, -'.sql'.length), file, sql, sha256: digestOf(sql) };
  });
}

/** The digest that is recorded: the same whether git checked the file out with `\r\n` or `\n`. */
export function digestOf(sql: string): string {
  return createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
}
