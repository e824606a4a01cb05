import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listProviders, loadProvider } from '../src/providers/load.ts';
import { cataloguePage } from './provider-docs/catalogue.ts';
import { providerPage } from './provider-docs/page.ts';

/**
 * Makes `docs/providers/`: a page for each provider file, and the catalogue. With `--check` it writes nothing, names
 * what is out of date, and ends with status 1 where there is any.
 */

const folder = join(import.meta.dirname, '../docs/providers');

/** All pages by file name. */
export function pages(): Map<string, string> {
  const providers = listProviders().map((slug) => loadProvider(slug));
  const byName = providers.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  return new Map([
    ['README.md', cataloguePage(byName)],
    ...providers.map((provider): [string, string] => [`${provider.slug}.md`, providerPage(provider)]),
  ]);
}

/** Names of the files that are not as they would be written now: changed, missing, or left over. */
export function outdated(): string[] {
  const made = pages();
  const there = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const left = there.filter((name) => !made.has(name));
  const changed = [...made].filter(
    ([name, text]) => !there.includes(name) || readFileSync(join(folder, name), 'utf8') !== text,
  );
  return [...changed.map(([name]) => name), ...left].sort();
}

function write(): void {
  mkdirSync(folder, { recursive: true });
  const stale = outdated();
  const made = pages();
  for (const name of stale) {
    const text = made.get(name);
    if (text === undefined) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
  console.log(stale.length === 0 ? 'docs/providers is up to date.' : `Written: ${stale.join(', ')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--check')) {
    const stale = outdated();
    if (stale.length > 0) {
      console.error(`Out of date in docs/providers: ${stale.join(', ')}\nRun: npm run docs:providers`);
      process.exitCode = 1;
    }
  } else write();
}
