import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { resolveSources } from '../../src/generate/resolve.ts';
import { type Catalogue, catalogue } from '../../src/providers/load.ts';
import { issuesOf } from './config/issues.ts';

const providers: Catalogue = {
  list: () => [...catalogue.list(), 'asks'],
  load: (slug) =>
    slug === 'asks'
      ? {
          ...catalogue.load('stripe'),
          slug,
          settings: { shop_id: { describe: 'the number of the shop', example: '17' } },
        }
      : catalogue.load(slug),
};
const resolve = (source: string) =>
  resolveSources(
    parseConfig(`project: a\nsources:\n  s:\n    provider: ${source}\n    secrets: [A]\n`, 'c.yaml'),
    providers,
  );
const custom = (more: string) =>
  resolve(
    `custom\n    signature: { scheme: hmac, header: x-sig, signed: "{setting.shop_id}:{body}" }\n${more}`,
  );

describe('settings of a source', () => {
  it('are text in what is signed, which nothing of a request can be', () => {
    const [source] = custom('    settings: { shop_id: "{body}" }');
    expect(source?.signature).toMatchObject({ signed: [['{body}', ':', { from: 'body' }]] });
  });

  it('are asked for by the provider file, or by a signature of the own', () => {
    expect(resolve('asks\n    settings: { shop_id: "17" }')).toHaveLength(1);
    const missing = issuesOf(() => resolve('asks'));
    expect(missing).toMatchObject([
      { path: 'sources.s.settings.shop_id', expected: 'the number of the shop', line: 3 },
    ]);
    expect(issuesOf(() => custom(''))).toMatchObject([{ path: 'sources.s.settings.shop_id' }]);
  });

  it('that nobody asks for are refused at their line', () => {
    const more = issuesOf(() => resolve('asks\n    settings: { shop_id: "17", shopid: "1" }'));
    expect(more).toMatchObject([{ path: 'sources.s.settings.shopid', line: 5 }]);
    expect(issuesOf(() => resolve('stripe\n    settings: { a: "1" }'))).toMatchObject([
      { path: 'sources.s.settings.a', line: 5 },
    ]);
  });

  it('are texts', () => {
    expect(issuesOf(() => resolve('asks\n    settings: { shop_id: 17 }'))).toMatchObject([
      { path: 'sources.s.settings.shop_id', line: 5 },
    ]);
  });
});
