import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import { lookedInto } from '../../catalogue/bodies.ts';
import { evaluate } from '../../catalogue/recipes.ts';
import { asItStands, secretOf, signed, sourceOf } from '../../catalogue/requests.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { deliverItems } from '../harness/gate-batches.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const several = listProviders().filter((slug) => loadProvider(slug).items !== undefined);

/** How many elements the first of these paths that has any leads to. */
function count(value: unknown, steps: readonly (string | null)[]): number {
  const [step, ...rest] = steps;
  if (step === undefined) return 1;
  if (step === null) return Array.isArray(value) ? value.reduce((sum, one) => sum + count(one, rest), 0) : 0;
  return typeof value === 'object' && value !== null
    ? count((value as Record<string, unknown>)[step], rest)
    : 0;
}

describe.each(several)('requests of %s', (slug) => {
  const source = sourceOf(slug);
  const { providerFile: provider } = source;
  const samples = Object.entries(provider.samples);
  const paths = (source.rules as { items: (string | null)[][] }).items;

  beforeAll(async () => {
    await gate.addSource(slug, source, [secretOf(source)]);
  });

  test('give each of their events a key of its own, new once', async () => {
    const keys: (string | null)[] = [];
    for (const [name, sample] of samples) {
      const request = asItStands(source, sample);
      const rows = await deliverItems(gate.n8n, { source: slug, ...request });
      const looked = lookedInto(request);
      expect(rows.length).toBe(Math.max(...paths.map((path) => count(looked.body, path))));
      expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => 'new'));
      expect(rows.map(({ type }) => `${type ?? ''}`.replace(/\\(.)/g, '$1'))).toContain(
        provider.type === undefined ? '' : evaluate(provider.type, looked),
      );
      if (provider.type) expect(`${name} `.startsWith(`${evaluate(provider.type, looked)} `)).toBe(true);
      const own = provider.answers.new;
      expect(rows[0]).toMatchObject({
        request_code: own?.status ?? 200,
        ...(own?.body === undefined ? {} : { request_answer: own.body }),
      });
      keys.push(...rows.map(({ key }) => key));
      const again = await deliverItems(gate.n8n, { source: slug, ...request });
      expect(again.map(({ outcome, key }) => [outcome, key])).toEqual(
        rows.map(({ key }) => ['duplicate', key]),
      );
      expect(again[0]).toMatchObject({ request_code: provider.answers.duplicate?.status ?? 200 });
    }
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('are refused as a whole with a wrong secret, and without one', async () => {
    const [, sample] = samples[0] ?? [];
    if (!sample) throw new Error('no sample');
    const forged = signed(source, asItStands(source, sample, false), { secret: secretOf(source, 'b') });
    const id = `${slug}-without`.slice(0, 40);
    await gate.addSource(id, { ...source, id, name: id }, []);
    for (const [at, request] of [
      [slug, forged],
      [id, asItStands(source, sample)],
    ] as const) {
      const rows = await deliverItems(gate.n8n, { source: at, ...request });
      expect(rows).toMatchObject([
        { request_outcome: 'rejected', request_code: provider.answers.rejected?.status ?? 401, key: null },
      ]);
    }
  });
});
