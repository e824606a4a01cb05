import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../../src/errors.ts';
import { compileSignature } from '../../../src/providers/compile.ts';
import { listProviders, loadProvider, parseProvider } from '../../../src/providers/load.ts';
import { parseRecipe, type RecipePart } from '../../../src/providers/recipe.ts';
import { freshSample } from '../../../src/providers/sample.ts';
import type { Provider } from '../../../src/providers/schema.ts';
import { sign } from '../../../src/providers/sign.ts';
import { issuesOf } from '../config/issues.ts';

interface Request {
  body: unknown;
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** What a sample's recipes look into: its request, or what is fetched for it. */
function requestOf(provider: Provider, type: string): Request {
  const { body, headers, query } = freshSample(provider, type, 'n');
  const text = Buffer.from(body).toString();
  const form = provider.content_type === 'application/x-www-form-urlencoded';
  const sent = () => (form ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text));
  return { body: provider.fetch ? provider.samples[type]?.fetched : sent(), headers, query };
}

function value(part: RecipePart, { body, headers, query }: Request): unknown {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'header') return headers[part.name];
  if (part.kind === 'query') return query[part.name];
  if (part.kind === 'body_sha256') return 'hash';
  return part.path.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], body);
}

/** A recipe's value as Postgres makes it, but for the escapes. */
function evaluate(recipe: string, request: Request): string | undefined {
  const result = parseRecipe(recipe);
  if (!('recipe' in result)) return undefined;
  return result.recipe
    .map((parts) => parts.map((part) => value(part, request)))
    .find((values) => values.every((found) => found !== '' && ['string', 'number'].includes(typeof found)))
    ?.join('');
}

describe.each(listProviders())('the provider file %s', (slug) => {
  const provider = loadProvider(slug);

  it('has a way to tell the sender from a stranger', () => {
    expect(provider.signature.scheme !== 'none' || (provider.addresses?.length ?? 0) > 0).toBe(true);
  });

  it.each(Object.keys(provider.samples))('has a key, the type and an object in the sample %s', (type) => {
    const request = requestOf(provider, type);
    expect(evaluate(provider.key, request)).toBeDefined();
    if (provider.object) expect(evaluate(provider.object, request)).toBeDefined();
    if (provider.type) expect(evaluate(provider.type, request)).toBe(type);
  });

  it('names each of its samples by a key of its own', () => {
    const keys = Object.keys(provider.samples).map((type) =>
      evaluate(provider.key, requestOf(provider, type)),
    );
    expect(new Set(keys).size).toBe(keys.length);
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
    // Two are words of the language as well, and others are parts of longer words.
    const slugs = listProviders().filter((slug) => !['custom', 'meta'].includes(slug));
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
