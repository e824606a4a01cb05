import { existsSync, readFileSync } from 'node:fs';
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

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * A JSON file that the build made from data below `templates/`, or undefined where there is none: the sources run
 * without a build.
 */
export function readCompiled(name: string): unknown {
  const url = new URL(name, import.meta.url);
  return existsSync(url) ? JSON.parse(readFileSync(url, 'utf8')) : undefined;
}
