import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../errors.ts';
import { oneOf } from '../input/schema-issues.ts';
import { type Catalogue, listProviders, loadProvider, parseProvider } from './load.ts';
import type { Provider } from './schema.ts';

/** The folder beside `oncehook.yaml` with the user's own provider files. */
export const OWN_FOLDER = 'providers';

const extension = '.yaml';
/** As a slug stands in ids, paths and pages. */
const slugPattern = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** As for every file that people write by hand. */
const maxBytes = 250_000;

/** The providers that a configuration can name. */
export interface OwnCatalogue extends Catalogue {
  /** Slugs of the user's own files, sorted. */
  own(): string[];
}

/**
 * The providers that ship, and those of the folder `providers` beside a configuration (which need not exist). The
 * folder is read once, a file when it is asked for.
 * `load` throws UserError with every issue of the file: file, line, path, expectation; and for a file that has the
 * name of a provider that ships, for which of the two is meant nobody could tell.
 */
export function catalogueOf(configFile: string): OwnCatalogue {
  const folder = join(dirname(configFile), OWN_FOLDER);
  let found: string[] | undefined;
  const own = () => {
    found ??= ownSlugs(folder);
    return found;
  };
  const read = new Map<string, Provider>();
  return {
    own,
    list: () => [...new Set([...listProviders(), ...own()])].sort(),
    load(slug) {
      const known = read.get(slug);
      if (known) return known;
      const provider = own().includes(slug) ? loadOwn(slug, folder) : loadShipped(slug, own());
      read.set(slug, provider);
      return provider;
    },
  };
}

function ownSlugs(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(extension))
      .map((name) => name.slice(0, -extension.length))
      .filter((slug) => slugPattern.test(slug))
      .sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw unreadable(folder, code, 'folder');
  }
}

function loadShipped(slug: string, own: readonly string[]): Provider {
  const shipped = listProviders();
  if (shipped.includes(slug)) return loadProvider(slug);
  throw new UserError({ message: 'This provider is not known.', ...oneOf(slug, [...shipped, ...own]) });
}

function loadOwn(slug: string, folder: string): Provider {
  const file = join(folder, `${slug}${extension}`);
  if (listProviders().includes(slug)) {
    throw new UserError({
      file,
      message: `A provider of the name ${slug} ships with Oncehook.`,
      expected: 'another name',
      remedy: `Rename the file, such as to ${`own-${slug}`.slice(0, 40)}${extension}, and name that in oncehook.yaml; or delete it.`,
    });
  }
  return parseProvider(slug, readOwn(file), file);
}

function readOwn(file: string): string {
  let bytes: Uint8Array;
  try {
    if (statSync(file).size > maxBytes) {
      throw new UserError({
        file,
        message: 'The file is too large.',
        expected: `at most ${maxBytes / 1_000} kB`,
        remedy: 'Check that this is the file you meant.',
      });
    }
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw unreadable(file, (error as NodeJS.ErrnoException).code, 'file');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UserError({ file, message: 'The file is not UTF-8 text.', remedy: 'Save it as UTF-8.' });
  }
}

function unreadable(file: string, code: string | undefined, what: string): UserError {
  return new UserError({
    file,
    message: `The ${what} cannot be read${code ? ` (${code})` : ''}.`,
    remedy: 'Check its permissions.',
  });
}
