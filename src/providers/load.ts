import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { UserError } from '../errors.ts';
import { check, oneOf } from '../input/schema-issues.ts';
import { parseYaml } from '../input/yaml.ts';
import { readCompiled, readTemplate, templatePath } from '../templates.ts';
import { type Provider, providerSchema } from './schema.ts';

/** Where provider files come from; a test brings its own. */
export interface Catalogue {
  list(): string[];
  load(slug: string): Provider;
}

/** The slugs of the providers that ship with Oncehook, sorted. */
export function listProviders(): string[] {
  return readdirSync(templatePath('providers'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

/**
 * The provider of a slug.
 * @throws UserError where there is none (with the nearest one and the list), or with every issue of its file.
 */
export function loadProvider(slug: string): Provider {
  const listed = listProviders();
  // Only a listed name becomes part of a path.
  if (!listed.includes(slug))
    throw new UserError({ message: 'This provider is not known.', ...oneOf(slug, listed) });
  const text = readTemplate(`providers/${slug}.yaml`);
  const mark = digest(text);
  const compiled = compiledProviders()?.[mark];
  if (compiled) return { ...compiled, slug };
  const known = read.get(slug);
  if (known?.mark === mark) return known.provider;
  const provider = parseProvider(slug, text, `templates/providers/${slug}.yaml`);
  read.set(slug, { mark, provider });
  return provider;
}

/** Provider files that this process has read, with the digest of their text. */
const read = new Map<string, { mark: string; provider: Provider }>();

/**
 * Provider files as the build has read and checked them, by the digest of their text: to parse YAML costs more than
 * the rest of `generate`. A file that was changed since is not among them, and is read anew.
 */
export type CompiledProviders = Record<string, Omit<Provider, 'slug'>>;

/** The file of the build that holds them. */
export const COMPILED_PROVIDERS = 'providers.json';

/** All provider files, read and checked, for the build. @throws UserError as `parseProvider` does. */
export function compileProviders(): CompiledProviders {
  return Object.fromEntries(
    listProviders().map((name) => {
      const text = readTemplate(`providers/${name}.yaml`);
      const { slug: _, ...provider } = parseProvider(name, text, `templates/providers/${name}.yaml`);
      return [digest(text), provider];
    }),
  );
}

let compiledOnce: { providers: CompiledProviders | undefined } | undefined;

function compiledProviders(): CompiledProviders | undefined {
  compiledOnce ??= { providers: readCompiled(COMPILED_PROVIDERS) as CompiledProviders | undefined };
  return compiledOnce.providers;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Reads the text of a provider file; `file` names it in errors.
 * @throws UserError with every issue: file, line, path, expectation.
 */
export function parseProvider(slug: string, text: string, file: string): Provider {
  const yaml = parseYaml(text, file);
  const result = check(providerSchema, yaml.value, yaml);
  if ('value' in result) return { ...result.value, slug };
  const [first, ...rest] = result.issues;
  throw new UserError(first ?? 'The provider file is not valid.', ...rest);
}

/** The providers that ship with Oncehook. */
export const catalogue: Catalogue = { list: listProviders, load: loadProvider };
