import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig, parseConfig } from '../../../src/config/load.ts';
import { UserError } from '../../../src/errors.ts';
import { issuesOf } from './issues.ts';

const folder = mkdtempSync(join(tmpdir(), 'oncehook-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (content: string | Uint8Array): string => {
  const file = join(folder, 'oncehook.yaml');
  writeFileSync(file, content);
  return file;
};

describe('a config file', () => {
  it('gets the defaults', () => {
    const { locate, locateKey, locateText, ...config } = parseConfig(
      'project: shop\nsources:\n  eu: { provider: custom }\n',
      'c.yaml',
    );
    expect(config).toEqual({
      file: 'c.yaml',
      project: 'shop',
      database: 'ONCEHOOK_DATABASE_URL',
      n8nPassword: 'ONCEHOOK_N8N_PASSWORD',
      credential: 'Oncehook Postgres',
      workflows: 'workflows',
      sources: [
        {
          name: 'eu',
          id: 'eu',
          provider: 'custom',
          path: 'eu',
          secrets: [],
          ack: 'after-claim',
          leaseSeconds: 900,
          maxAttempts: 8,
          retentionDays: 90,
          keyFormat: 'plain',
          key: undefined,
          type: undefined,
          object: undefined,
          toleranceSeconds: undefined,
          settings: {},
          decide: false,
          guard: undefined,
          signature: undefined,
          addresses: undefined,
        },
      ],
    });
  });

  it('takes what it says, and counts part of a day as a day', () => {
    const text = `project: a
sources:
  new-name: { provider: p, id: old, path: in/x_1, lease: 90s, retention: 36h, tolerance: 2m, addresses: any }
`;
    expect(parseConfig(text, 'c.yaml').sources[0]).toMatchObject({
      name: 'new-name',
      id: 'old',
      path: 'in/x_1',
      leaseSeconds: 90,
      retentionDays: 2,
      toleranceSeconds: 120,
      addresses: 'any',
    });
  });

  it('may use anchors, and places an issue where the value stands', () => {
    const text = 'project: a\nsources:\n  a: &one\n    provider: p\n    lease: long\n  b: *one\n';
    const paths = issuesOf(() => parseConfig(text, 'c.yaml')).map(({ path, line }) => [path, line]);
    expect(paths).toContainEqual(['sources.b.lease', 5]);
  });

  it.each([
    ['a missing file', () => join(folder, 'nowhere.yaml')],
    ['a folder', () => folder],
    ['a file below a file', () => join(write('project: a'), 'x.yaml')],
    ['an empty file', () => write('')],
    ['bytes that are not UTF-8', () => write(Buffer.from([0x70, 0x3a, 0x20, 0xff, 0xfe]))],
    ['a huge file', () => write(`project: a\n#${'x'.repeat(300_000)}`)],
  ])('is refused for %s, with its name and what to do', async (_case, make) => {
    const file = make();
    const refusal = await loadConfig(file).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UserError);
    expect((refusal as UserError).issues).toEqual([
      expect.objectContaining({ file, remedy: expect.any(String) }),
    ]);
  });
});

const source = (rest: string) => `project: a\nsources:\n  s: { provider: p, ${rest} }\n`;

describe('bad input', () => {
  it.each<[string, string, [line: number, path: string | undefined][]]>([
    ['comments alone', '# nothing\n', [[1, undefined]]],
    ['a text', 'hello', [[1, '']]],
    ['a list', '- a', [[1, '']]],
    ['a tab', 'project: a\nsources:\n\ts: 1\n', [[3, undefined]]],
    ['an open quote', 'project: "a\nsources: {}\n', [[3, undefined]]],
    ['a key that stands twice', 'project: a\nsources: {}\nproject: b\n', [[3, undefined]]],
    ['a second document', 'project: a\n---\nproject: b\n', [[2, undefined]]],
    ['an unknown tag', 'project: !env a\nsources: {}\n', [[1, undefined]]],
    ['an unknown alias', 'project: a\nsources: *x\n', [[2, undefined]]],
    ['a key that is a mapping', 'project: a\n? {a: b}\n: c\n', [[2, undefined]]],
    ['a key named __proto__', 'project: a\nsources:\n  __proto__: {}\n', [[3, undefined]]],
    [
      'wrong kinds',
      'project: 5\nsources: []\n',
      [
        [1, 'project'],
        [2, 'sources'],
      ],
    ],
    [
      'what is missing',
      'credential: x\n',
      [
        [1, 'project'],
        [1, 'sources'],
      ],
    ],
    ['a source without a value', 'project: a\nsources:\n  s:\n', [[3, 'sources.s']]],
    ['a source without a provider', 'project: a\nsources:\n  s: { path: x }\n', [[3, 'sources.s.provider']]],
    ['a name that is not allowed', 'project: a\nsources:\n  S_1: { provider: p }\n', [[3, 'sources.S_1']]],
    ['an unknown setting', 'project: a\ndatabse: X\nsources: {}\n', [[2, 'databse']]],
    ['a lease that is too long', source('lease: 25h'), [[3, 'sources.s.lease']]],
    ['a lease that is too short', source('lease: 1s'), [[3, 'sources.s.lease']]],
    ['a retention of nothing', source('retention: 0d'), [[3, 'sources.s.retention']]],
    ['a duration without a unit', source('tolerance: 300'), [[3, 'sources.s.tolerance']]],
    ['half an attempt', source('max_attempts: 1.5'), [[3, 'sources.s.max_attempts']]],
    ['an unknown choice', source('ack: after-sucess'), [[3, 'sources.s.ack']]],
    ['a path with a leading slash', source('path: /x'), [[3, 'sources.s.path']]],
    ['a path parameter', source('path: "x/:id"'), [[3, 'sources.s.path']]],
    ['a secret that is not in a list', source('secrets: ABC_DEF_GHI_JKL'), [[3, 'sources.s.secrets']]],
    ['an empty recipe', source('key: ""'), [[3, 'sources.s.key']]],
    [
      'addresses that are none',
      source('addresses: [1.2.3, 10.0.0.0/33, any]'),
      [
        [3, 'sources.s.addresses.0'],
        [3, 'sources.s.addresses.1'],
        [3, 'sources.s.addresses.2'],
      ],
    ],
    [
      'the loopback address',
      source('addresses: [127.0.0.1, "::1", 0.0.0.0/0, "::ffff:127.0.0.1"]'),
      [
        [3, 'sources.s.addresses.0'],
        [3, 'sources.s.addresses.1'],
        [3, 'sources.s.addresses.2'],
        [3, 'sources.s.addresses.3'],
      ],
    ],
    ['a word in the place of addresses', source('addresses: all'), [[3, 'sources.s.addresses']]],
    [
      'one path for two sources',
      'project: a\nsources:\n  s: { provider: p }\n  t: { provider: p, path: s }\n',
      [[4, 'sources.t.path']],
    ],
    [
      'one id for two sources',
      'project: a\nsources:\n  s: { provider: p, id: t }\n  t: { provider: p }\n',
      [[4, 'sources.t']],
    ],
  ])('is refused for %s', (_case, text, expected) => {
    const issues = issuesOf(() => parseConfig(text, 'c.yaml'));
    expect(issues.map(({ line, path }) => [line, path])).toEqual(expected);
    for (const issue of issues) expect(issue).toMatchObject({ file: 'c.yaml', remedy: expect.any(String) });
  });

  it('is told all at once, in the order of the file', () => {
    const text = `projct: a
sources:
  one: { provider: p, lease: 1y }
  two: { provider: p, path: one, colour: red }
`;
    const issues = issuesOf(() => parseConfig(text, 'c.yaml'));
    expect(issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'project',
        'projct',
        'sources.one.lease',
        'sources.two.path',
        'sources.two.colour',
      ]),
    );
    expect(issues.map(({ line = 0 }) => line)).toEqual(issues.map(({ line = 0 }) => line).toSorted());
  });

  it.each([
    ['databse', 'database'],
    ['n8nPassword', 'n8n_password'],
    ['Sources', 'sources'],
  ])('names the setting that %s was meant to be', (wrong, meant) => {
    const issues = issuesOf(() => parseConfig(`project: a\nsources: {}\n${wrong}: x\n`, 'c.yaml'));
    expect(issues[0]?.remedy).toContain(meant);
  });

  it.each([
    [
      'an alias bomb',
      [
        'a: &a [x, x, x]',
        ...[...'bcdefghijkl'].map((name, i) => `${name}: &${name} [${`*${'abcdefghijk'[i]}, `.repeat(8)}]`),
      ].join('\n'),
    ],
    ['many aliases', `a: &a x\nb: [${'*a, '.repeat(20_000)}]`],
    ['deep nesting', '['.repeat(200_000)],
    ['thousands of unknown keys', Array.from({ length: 20_000 }, (_, i) => `k${i}:`).join('\n')],
    [
      'thousands of bad sources',
      `sources:\n${Array.from({ length: 8_000 }, (_, i) => `  S${i}: { x: 1 }`).join('\n')}`,
    ],
  ])('does not keep the parser busy: %s', { timeout: 10_000 }, (_case, text) => {
    expect(issuesOf(() => parseConfig(text, 'c.yaml')).length).toBeLessThanOrEqual(200);
  });

  const json = fc.jsonValue({ maxDepth: 3 });
  it('always ends in a config or in issues with a line', () => {
    const anything = fc.dictionary(fc.constantFrom('project', 'sources', 'database', 'x'), json);
    const sources = fc.dictionary(
      fc.string(),
      fc.dictionary(
        fc.constantFrom('provider', 'secrets', 'key', 'path', 'id', 'signature', 'addresses'),
        json,
      ),
    );
    const config = fc.oneof(json, anything, fc.record({ project: fc.constant('a'), sources }));
    fc.assert(
      fc.property(config, (value) => {
        try {
          parseConfig(JSON.stringify(value), 'c.yaml');
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
          for (const { file, line } of (error as UserError).issues) {
            expect(file).toBe('c.yaml');
            expect(line).toBeGreaterThanOrEqual(1);
          }
        }
      }),
    );
  });
});
