import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectConfig, parseConfig } from '../../src/config/load.ts';
import { UserError } from '../../src/errors.ts';
import { resolveInspected, resolveSources } from '../../src/generate/resolve.ts';
import { catalogue, loadProvider } from '../../src/providers/load.ts';
import { issuesOf } from './config/issues.ts';

const resolve = (sources: string) =>
  resolveSources(parseConfig(`project: a\nsources:\n${sources}`, 'c.yaml'));
const one = (source: string) => resolve(`  s: { ${source} }\n`)[0];

describe('resolving', () => {
  it('takes the starter configuration', () => {
    const file = new URL('../../oncehook.yaml', import.meta.url);
    const sources = resolveSources(parseConfig(readFileSync(file, 'utf8'), 'oncehook.yaml'));
    expect(sources.map(({ id, signature }) => [id, signature.scheme])).toEqual([
      ['stripe', 'hmac'],
      ['yookassa', 'none'],
      ['shop', 'hmac'],
    ]);
  });

  it('joins the provider file and the configuration', () => {
    const { providerFile, ...row } = one('provider: stripe, id: old, secrets: [A, B], tolerance: 10m') ?? {};
    expect(providerFile).toEqual(loadProvider('stripe'));
    expect(row).toEqual({
      ...{
        id: 'old',
        name: 's',
        provider: 'stripe',
        project: 'a',
        credential: 'Oncehook Postgres',
        path: 's',
      },
      signature: {
        ...{
          scheme: 'hmac',
          hash: 'sha256',
          header: 'stripe-signature',
          pairs: { separator: ',', name: 'v1' },
        },
        ...{
          encoding: 'hex',
          secret_encoding: 'utf8',
          signed: [[{ from: 'timestamp' }, '.', { from: 'body' }]],
        },
        timestamp: { pair: 't', unit: 's', tolerance: 600, future: 'accept' },
      },
      ...{ key: '{body.id}', keyFormat: 'plain', type: '{body.type}', object: '{body.data.object.id}' },
      volatile: [['pending_webhooks']],
      ...{ toleranceSeconds: 600, leaseSeconds: 900, maxAttempts: 8, retentionDays: 90, ack: 'after-claim' },
      ...{ answers: {}, rules: null, addresses: null, secrets: ['A', 'B'], settings: {}, decide: false },
    });
  });

  it('lets the configuration replace recipes and addresses', () => {
    const own = one(
      'provider: yookassa, key: "{body.x}", type: "{body.y}", object: "{body.z}", addresses: [192.0.2.1]',
    );
    expect(own).toMatchObject({
      key: '{body.x}',
      type: '{body.y}',
      object: '{body.z}',
      addresses: ['192.0.2.1'],
    });
    expect(one('provider: yookassa, addresses: any')?.addresses).toBeNull();
    expect(one('provider: yookassa')?.addresses).toContain('2a02:5180::/32');
  });

  it.each([
    [
      'single settings',
      '{ header: X-Shop, encoding: base64 }',
      { scheme: 'hmac', header: 'x-shop', signed: [[{ from: 'body' }]] },
    ],
    ['another scheme', '{ scheme: token, header: x-token }', { scheme: 'token', header: 'x-token' }],
    [
      'a time',
      '{ signed: "{timestamp}.{body}", timestamp: { header: x-time } }',
      { signed: [[{ from: 'timestamp' }, '.', { from: 'body' }]] },
    ],
    ['the place', '{ query: sign }', { scheme: 'hmac', query: 'sign', hash: 'sha256' }],
    ['the hash function', '{ hash: sha512 }', { header: 'x-signature', hash: 'sha512' }],
    ['the password', '{ scheme: basic }', { scheme: 'basic' }],
  ])('lets a sender of one’s own change %s of the signature', (_case, signature, expected) => {
    expect(one(`provider: custom, secrets: [A], signature: ${signature}`)?.signature).toMatchObject(expected);
  });

  it('has one place for the signature', () => {
    const own = one(
      'provider: custom, secrets: [A], signature: { body: sig, partial: true, signed: "{body.id}" }',
    );
    expect(own?.signature).toMatchObject({ body: ['sig'] });
    expect(own?.signature).not.toHaveProperty('header');
  });

  it('fills in the address that is signed', () => {
    const signed = one(
      'provider: custom, secrets: [A], public_url: "https://n8n.example.com/webhook/s?a=1", signature: { signed: "{url}{body}" }',
    );
    expect(signed?.signature).toMatchObject({
      signed: [['https://n8n.example.com/webhook/s?a=1', { from: 'body' }]],
    });
  });

  it('has no limit where the rule says so, unless the source sets one', () => {
    const timed = (more: string) =>
      one(
        `provider: custom, secrets: [A], ${more} signature: { signed: "{timestamp}{body}", timestamp: { header: t, tolerance: none } }`,
      );
    expect(timed('')).toMatchObject({
      toleranceSeconds: null,
      signature: { timestamp: { tolerance: 'none' } },
    });
    expect(timed('tolerance: 5m,')).toMatchObject({
      toleranceSeconds: 300,
      signature: { timestamp: { tolerance: 300 } },
    });
  });

  it('has no tolerance without a time', () => {
    expect(one('provider: custom, secrets: [A]')?.toleranceSeconds).toBeNull();
  });

  it('gives the same rows for the same input', () => {
    expect(one('provider: custom, secrets: [A]')).toEqual(one('provider: custom, secrets: [A]'));
  });
});

describe('a source is refused', () => {
  it.each([
    ['for an unknown provider', 'provider: strpe', 'provider'],
    ['for a provider that is a path', 'provider: ../providers/stripe', 'provider'],
    ['for a signature without a secret', 'provider: stripe', 'secrets'],
    ['for secrets without a signature', 'provider: yookassa, secrets: [A]', 'secrets'],
    ['for neither signature nor addresses', 'provider: custom, signature: { scheme: none }', 'addresses'],
    ['for a retention below the resend', 'provider: stripe, secrets: [A], retention: 29d', 'retention'],
    ['for a signature that is not open', 'provider: yookassa, signature: { scheme: none }', 'signature'],
    ['for a tolerance without a time', 'provider: custom, secrets: [A], tolerance: 5m', 'tolerance'],
    ['for an unknown scheme', 'provider: custom, secrets: [A], signature: { scheme: x }', 'signature.scheme'],
    [
      'for a signed address that is not known',
      'provider: custom, secrets: [A], signature: { signed: "{url}{body}" }',
      'public_url',
    ],
    [
      'for an address that is none',
      'provider: custom, secrets: [A], public_url: n8n.example.com',
      'public_url',
    ],
    ['for an unknown setting', 'provider: custom, secrets: [A], signature: { heder: x }', 'signature.heder'],
    [
      'for a setting of the wrong kind',
      'provider: custom, secrets: [A], signature: { prefix: 5 }',
      'signature.prefix',
    ],
    [
      'for a time without a rule',
      'provider: custom, secrets: [A], signature: { signed: "{timestamp}{body}" }',
      'signature.signed',
    ],
    ['for a malformed key', 'provider: custom, secrets: [A], key: "{body.id"', 'key'],
    ['for a malformed type', 'provider: custom, secrets: [A], type: "{bdy.id}"', 'type'],
    ['for a constant object', 'provider: custom, secrets: [A], object: order', 'object'],
  ])('%s', (_case, source, path) => {
    expect(issuesOf(() => one(source))).toEqual([
      expect.objectContaining({
        file: 'c.yaml',
        line: 3,
        path: `sources.s.${path}`,
        remedy: expect.any(String),
      }),
    ]);
  });

  it('with the nearest provider', () => {
    expect(issuesOf(() => one('provider: Yoo-Kassa'))[0]?.remedy).toContain('yookassa');
  });

  it('with the reason for a longer retention', () => {
    expect(issuesOf(() => one('provider: stripe, secrets: [A], retention: 3d'))[0]?.expected).toContain(
      '30d',
    );
    expect(one('provider: stripe, secrets: [A], retention: 30d')?.retentionDays).toBe(30);
  });

  it('with all others at once, each malformed line of a recipe at its own line', () => {
    const issues = issuesOf(() =>
      resolve(`  a: { provider: nobody }
  b:
    provider: custom
    key: |  # the key

      {body.id}
        {body.a}{body.b}
      {body.c
    type: "{x}"
`),
    );
    expect(issues.map(({ path, line, column }) => [path, line, column])).toEqual([
      ['sources.a.provider', 3, 18],
      ['sources.b.secrets', 4, 3],
      ['sources.b.key', 9, 17],
      ['sources.b.key', 10, 14],
      ['sources.b.type', 11, 11],
    ]);
  });

  it('with what is wrong in the configuration itself, in one pass', async () => {
    const text = `project: Shop!
sources:
  a: { provider: nobody, lease: 1 }
  b: { provider: stripe, retention: 3d }
  c: { provider: stripe, secrets: whsec, retention: 3d }
  d: { provider: stripe, secert: [A] }
  e: { provider: custom, signature: 5, tolerance: 5m }
  f: { provider: custom, secrets: [A] }
`;
    const folder = mkdtempSync(join(tmpdir(), 'oncehook-resolve-'));
    try {
      writeFileSync(join(folder, 'c.yaml'), text);
      const inspected = await inspectConfig(join(folder, 'c.yaml'));
      const issues = issuesOf(() => resolveInspected(inspected));
      expect(issues.map(({ line, path }) => [line, path])).toEqual([
        [1, 'project'],
        [3, 'sources.a.provider'],
        [3, 'sources.a.lease'],
        [4, 'sources.b.secrets'],
        [4, 'sources.b.retention'],
        [5, 'sources.c.secrets'],
        [5, 'sources.c.retention'],
        [6, 'sources.d.secert'],
        [7, 'sources.e.signature'],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('with the provider that takes any sender', () => {
    const remedy = issuesOf(() => one('provider: nobody'))[0]?.remedy;
    const open = catalogue.list().filter((slug) => catalogue.load(slug).configurable.length > 0);
    const stand = open.filter((slug) => catalogue.load(slug).category === 'generic');
    expect(stand.length).toBeGreaterThan(0);
    for (const slug of open) expect(remedy?.includes(`\`${slug}\``)).toBe(stand.includes(slug));
  });

  it('with what is wrong in a provider file itself', () => {
    const broken = {
      ...catalogue,
      load: () => {
        throw new UserError({ file: 'p.yaml', line: 7, message: 'broken' });
      },
    };
    const config = parseConfig('project: a\nsources:\n  s: { provider: stripe }\n', 'c.yaml');
    expect(issuesOf(() => resolveSources(config, broken))).toEqual([
      expect.objectContaining({ file: 'p.yaml', line: 7 }),
    ]);
  });
});
