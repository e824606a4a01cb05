import { afterAll, beforeAll, expect, test } from 'vitest';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import { libraries } from '../../oracles/libraries.ts';
import { type Gate, openGate } from '../harness/gate.ts';
import { readVectors, stored } from '../harness/gate-signatures.ts';
import { verdicts } from './verdicts.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

/** The provider whose request a vector is. */
const slugOf = (vector: string) => (vector === 'mercado-pago' ? 'mercadopago' : vector);
const vectors = readVectors().filter(([name]) => listProviders().includes(slugOf(name)));

test('every provider that rests on a vector or a library has one', () => {
  const proven = listProviders().filter((slug) =>
    ['sdk', 'vector'].includes(loadProvider(slug).proof?.by ?? ''),
  );
  // What stands for a sender of one's own is checked by the same signature as GitHub's.
  const judged = Object.keys(libraries);
  const signed = ['custom', ...judged, ...vectors.map(([name]) => slugOf(name))];
  expect(proven.filter((slug) => !signed.includes(slug))).toEqual([]);
});

test.each(vectors)('the provider file accepts the official request of %s', async (name, vector) => {
  const { signature } = loadProvider(slugOf(name));
  await gate.addSource(name, stored(signature, vector.url), [vector.secret]);
  const request = { headers: vector.headers, query: vector.query ?? {}, body: Buffer.from(vector.body) };
  const changed = { ...request, body: Buffer.from(vector.body.replace(/\d/, '#')) };
  const [right] = await verdicts(gate, name, [request], vector.timestamp + 5);
  expect(right).toBeNull();
  if (loadProvider(slugOf(name)).uncovered.includes('body')) return;
  expect(await verdicts(gate, name, [changed], vector.timestamp + 5)).toEqual([expect.any(String)]);
});
