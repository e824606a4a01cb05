import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import { freshSample } from '../../../src/providers/sample.ts';
import { evaluate } from '../../catalogue/recipes.ts';
import { delivery, secretOf, sourceOf } from '../../catalogue/requests.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { claimObject, deliverItems, deliverNews } from '../harness/gate-batches.ts';
import { deliver } from '../harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const slugs = (part: 'items' | 'fetch') => listProviders().filter((slug) => loadProvider(slug)[part]);
const add = (slug: string) => {
  const source = sourceOf(slug);
  return gate.addSource(slug, source, source.signature.scheme === 'none' ? [] : [secretOf(source)]);
};

describe.each(slugs('items'))('requests of several events of %s', (slug) => {
  const source = sourceOf(slug);
  beforeAll(() => add(slug));

  test.each(Object.keys(source.providerFile.samples))('%s: each is new once', async (type) => {
    const request = () => ({ source: slug, ...delivery(source, type, `once ${type}`) });
    const fresh = await deliverItems(gate.n8n, request());
    expect(fresh.map(({ outcome }) => outcome)).toEqual(fresh.map(() => 'new'));
    expect(new Set(fresh.map(({ key }) => key)).size).toBe(fresh.length);
    const again = await deliverItems(gate.n8n, request());
    expect(again.map(({ outcome }) => outcome)).toEqual(fresh.map(() => 'duplicate'));
    // A workflow for one event a request must not take the first of them for all.
    expect(await deliver(gate.n8n, request())).toMatchObject({ outcome: 'unavailable', code: 503 });
  });
});

describe.each(slugs('fetch'))('objects of %s', (slug) => {
  const source = sourceOf(slug);
  const { providerFile: provider, key, type: typeRecipe } = source;
  beforeAll(() => add(slug));

  test.each(Object.keys(provider.samples))('%s: its change is new once', async (type) => {
    const request = { source: slug, ...delivery(source, type, `once ${type}`) };
    const { fetched = '' } = freshSample({ ...provider, key, type: typeRecipe }, type, `once ${type}`);
    const object = Buffer.from(fetched).toString();
    const outcomes = [];
    for (let n = 0; n < 2; n += 1) {
      const told = await deliverNews(gate.n8n, request);
      expect(told).toMatchObject({ outcome: 'new' });
      expect(told.fetch_by?.length).toBeGreaterThan(0);
      const row = await claimObject(gate.n8n, slug, told, object);
      const looked = { body: JSON.parse(object), headers: request.headers, query: request.query };
      expect(row.key?.replace(/\\(.)/g, '$1')).toBe(`${slug}:${evaluate(key, looked)}`);
      outcomes.push(row.outcome);
    }
    expect(outcomes).toEqual(['new', 'duplicate']);
  });
});
