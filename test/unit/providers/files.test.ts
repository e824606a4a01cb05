import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../../src/errors.ts';
import { listProviders, loadProvider, parseProvider } from '../../../src/providers/load.ts';
import { evaluate, lookedAt } from '../../catalogue/recipes.ts';
import { issuesOf } from '../config/issues.ts';

describe.each(listProviders())('the provider file %s', (slug) => {
  const provider = loadProvider(slug);
  const { signature, addresses, key, type, object } = provider;
  const samples = Object.entries(provider.samples);

  it('has a way to tell the sender from a stranger', () => {
    expect(signature.scheme !== 'none' || (addresses?.length ?? 0) > 0).toBe(true);
  });

  it.each(samples)('has a key, the type and an object in the sample %s', (name, sample) => {
    const looked = lookedAt(provider, sample);
    expect(evaluate(key, looked)).toEqual(expect.any(String));
    if (object) expect(evaluate(object, looked)).toEqual(expect.any(String));
    // Two samples of one type are told apart by what follows.
    if (type) expect(`${name} `.startsWith(`${evaluate(type, looked)} `)).toBe(true);
  });

  it('has another key in each sample', () => {
    const keys = samples.map(([, sample]) => evaluate(key, lookedAt(provider, sample)));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has a fetched object in each sample where it fetches, and none elsewhere', () => {
    expect(
      samples.filter(([, sample]) => (sample.fetched === undefined) === Boolean(provider.fetch)),
    ).toEqual([]);
  });
});

describe('the program', () => {
  it('holds no provider by name', () => {
    // Two are words of the language as well, and others are parts of longer words.
    const slugs = listProviders().filter((slug) => !['custom', 'meta', 'resend'].includes(slug));
    const named = new RegExp(`(?<![a-z0-9])(${slugs.join('|')})(?![a-z0-9])`, 'i');
    const root = new URL('../../../src/', import.meta.url);
    const naming = globSync('**/*.ts', { cwd: root }).filter((file) => {
      const code = readFileSync(new URL(file, root), 'utf8').replace(
        /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm,
        '',
      );
      return named.test(code);
    });
    expect(naming).toEqual([]);
  });
});

describe('a bad provider file', () => {
  const good = readFileSync(new URL('../../../templates/providers/custom.yaml', import.meta.url), 'utf8');
  const issues = (text: string): readonly Issue[] => issuesOf(() => parseProvider('x', text, 'x.yaml'));

  it('is refused with every issue, each with its line and path', () => {
    const text = good
      .replace('category: generic', 'category: 7')
      .replace('scheme: hmac', 'scheme: hmca')
      .replace('window: null', 'window: soon')
      .replace('  {body.id}', '  {body.id')
      .replace('notes:', 'nots:');
    const lines = text.split('\n');
    const found = issues(text).map(({ path, line = 0, file }) => [file, path, lines[line - 1]?.trim()]);
    expect(found).toEqual(
      expect.arrayContaining([
        ['x.yaml', 'category', 'category: 7'],
        ['x.yaml', 'signature.scheme', 'scheme: hmca'],
        ['x.yaml', 'retry.window', 'window: soon'],
        ['x.yaml', 'key', 'key: |'],
        ['x.yaml', 'nots', 'nots:'],
      ]),
    );
  });

  it.each([
    ['no sample', good.replace(/samples:[\s\S]*(?=notes:)/, 'samples: {}\n')],
    ['an unknown outcome', `${good}\nanswers: { duplcate: { status: 200 } }\n`],
    ['a status that is none', `${good}\nanswers: { new: { status: 99 } }\n`],
    ['the loopback address', `${good}\naddresses: [127.0.0.1]\n`],
    ['a docs address that is not https', good.replace('docs: []', 'docs: [http://example.com]')],
  ])('is refused for %s', (_case, text) => {
    expect(issues(text)).toEqual([expect.objectContaining({ file: 'x.yaml', line: expect.any(Number) })]);
  });

  it.each(['strpe', '../../package', 'constructor', ''])('is not found as %j', (slug) => {
    expect(issuesOf(() => loadProvider(slug))).toHaveLength(1);
  });
});
