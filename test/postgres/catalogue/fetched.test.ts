import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import type { Sample } from '../../../src/providers/schema.ts';
import { evaluate, lookedAt } from '../../catalogue/recipes.ts';
import { asItStands, secretOf, signed, sourceOf } from '../../catalogue/requests.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { claimObject, deliverNews } from '../harness/gate-batches.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const fetching = listProviders().filter((slug) => loadProvider(slug).fetch !== undefined);

describe.each(fetching)('deliveries of %s', (slug) => {
  const source = sourceOf(slug);
  const { providerFile: provider } = source;
  const samples = Object.entries(provider.samples);
  const send = (request: object, id = slug) => deliverNews(gate.n8n, { source: id, ...request });

  beforeAll(async () => {
    await gate.addSource(slug, source, [secretOf(source)]);
  });

  test('have their object fetched each time, and take effect once under its key', async () => {
    const keys: (string | null)[] = [];
    for (const [, sample] of samples) {
      const { fetched = {} } = sample;
      const first = await send(asItStands(source, sample));
      expect(first).toMatchObject({ outcome: 'new', code: 200, fetch_by: [expect.stringMatching(/./)] });
      const event = await claimObject(gate.n8n, slug, first, fetched);
      expect(event).toMatchObject({ outcome: 'new', body: fetched });
      expect(event.key?.replace(/\\(.)/g, '$1')).toBe(
        `${slug}:${evaluate(provider.key, lookedAt(provider, sample))}`,
      );
      keys.push(event.key);
      const again = await send(asItStands(source, sample));
      expect(again).toMatchObject({ outcome: 'new' });
      expect(await claimObject(gate.n8n, slug, again, fetched)).toMatchObject({
        outcome: 'duplicate',
        key: event.key,
      });
    }
    expect(new Set(keys).size).toBe(samples.length);
  });

  test('fetch nothing by an id that is none', async () => {
    const [, sample] = samples[0] ?? [];
    const [place] = (source.rules as { fetch: { values: string[] } }).fetch.values;
    if (!sample || !place) throw new Error('no sample, or nothing to fetch by');
    for (const hostile of ['../refunds', 'a b', 'x?y=1', '', 'ä']) {
      const answer = await send(asItStands(source, withValue(sample, place, hostile)));
      expect([hostile, answer.outcome, answer.fetch_by]).toEqual([hostile, 'unkeyed', null]);
    }
  });

  test('are refused with a wrong secret, and without one', async () => {
    const [, sample] = samples[0] ?? [];
    if (!sample) throw new Error('no sample');
    const forged = signed(source, asItStands(source, sample, false), { secret: secretOf(source, 'b') });
    expect(await send(forged)).toMatchObject({ outcome: 'rejected', code: 401 });
    const id = `${slug}-without`.slice(0, 40);
    await gate.addSource(id, { ...source, id, name: id }, []);
    expect(await send(asItStands(source, sample), id)).toMatchObject({
      outcome: 'rejected',
      reason: 'no secret stored',
    });
  });
});

/** A sample with another value at a place of one step such as `{body.id}` or `{query."data.id"}`. */
function withValue(sample: Sample, place: string, value: string): Sample {
  const [, part, name = ''] = /^\{(body|query)\."?([^"}]+)"?\}$/.exec(place) ?? [];
  const at = part === 'body' ? 'body' : 'query';
  return { ...sample, [at]: { ...(sample[at] as object), [name]: value } };
}
