import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of data that ships with the package; the same step up from `src/` and from `dist/`. */
export const templatesUrl: URL = new URL('../templates/', import.meta.url);

/** The absolute path of a file or folder below `templates/`. */
export function templatePath(relative: string): string {
  return fileURLToPath(new URL(relative, templatesUrl));
}

/** The text of a file below `templates/`, e.g. `sql/claim.sql`. */
export function readTemplate(relative: string): string {
  return readFileSync(new URL(relative, templatesUrl), 'utf8');
}
