import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../../src/errors.ts';
import { compileSignature } from '../../../src/providers/compile.ts';
import { listProviders, loadProvider, parseProvider } from '../../../src/providers/load.ts';
import { parseRecipe, type RecipePart } from '../../../src/providers/recipe.ts';
import { freshSample } from '../../../src/providers/sample.ts';
import { sign } from '../../../src/providers/sign.ts';
import { issuesOf } from '../config/issues.ts';

interface Request {
  body: unknown;
  headers: Record<string, string>;
}

function value(part: RecipePart, { body, headers }: Request): unknown {
  if (part.kind === 'header') return headers[part.name];
  if (part.kind !== 'body') return 'present';
  return part.path.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], body);
}

function yields(recipe: string, request: Request): boolean {
  const result = parseRecipe(recipe);
  if (!('recipe' in result)) return false;
  return result.recipe.some((parts) =>
    parts.every((part) => ['string', 'number'].includes(typeof value(part, request))),
  );
}

describe.each(listProviders())('the provider file %s', (slug) => {
  const provider = loadProvider(slug);

  it('has a way to tell the sender from a stranger', () => {
    expect(provider.signature.scheme !== 'none' || (provider.addresses?.length ?? 0) > 0).toBe(true);
  });

  it.each(Object.keys(provider.samples))('has a key, the type and an object in the sample %s', (type) => {
    const fresh = freshSample(provider, type, 'n');
    const request = { body: JSON.parse(Buffer.from(fresh.body).toString()), headers: fresh.headers };
    expect(yields(provider.key, request)).toBe(true);
    if (provider.object) expect(yields(provider.object, request)).toBe(true);
    if (provider.type) expect(JSON.stringify(request)).toContain(JSON.stringify(type));
  });

  it('can sign its samples', () => {
    const sample = freshSample(provider, undefined, 'n');
    const signature = compileSignature(provider.signature, {
      publicUrl: 'https://n8n.example.com/webhook/x',
    });
    const made = sign({ signature, secret: 'c2VjcmV0', ...sample, timestamp: 1_760_000_000 });
    const changed = { headers: {}, query: {}, body: Buffer.from(sample.body) };
    if (signature.scheme !== 'none') expect({ ...made, body: Buffer.from(made.body) }).not.toEqual(changed);
  });
});

describe('the program', () => {
  it('holds no provider by name', () => {
    // "custom" is a word of the language as well.
    const slugs = listProviders().filter((slug) => slug !== 'custom');
    const root = new URL('../../../src/', import.meta.url);
    const naming = globSync('**/*.ts', { cwd: root }).filter((file) => {
      const code = readFileSync(new URL(file, root), 'utf8').replace(
        /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm,
        '',
      );
      return slugs.some((slug) => code.toLowerCase().includes(slug));
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
