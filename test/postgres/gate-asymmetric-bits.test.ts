import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CompiledSignature } from '../../src/providers/compiled.ts';
import { randomPrivateKey } from '../../src/providers/key-pair.ts';
import { type Signed, sign } from '../../src/providers/sign.ts';
import { asymmetricSchemes } from './harness/asymmetric-schemes.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { changed } from './harness/gate-changes.ts';
import type { Part, Scheme } from './harness/gate-schemes.ts';
import { stored } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const T = 1_760_000_000;
const SETTINGS = { webhook_id: 'WH-1' };

describe.each(Object.entries(asymmetricSchemes))('%s', (name, scheme) => {
  const id = `a${Object.keys(asymmetricSchemes).indexOf(name)}`;
  const row = stored(scheme.signature, undefined, SETTINGS);
  const good = (secret = scheme.secret) => request(scheme, row.signature as CompiledSignature, secret);
  beforeAll(() => gate.addSource(id, row, [scheme.secret, randomPrivateKey(scheme.otherKey)]));

  test('what the signer makes is accepted, and with any change of what is not covered', async () => {
    const fresh = good();
    const free = (scheme.free ?? []).map((part) => changed(fresh, part, { part: 0, at: 3, bit: 1 }));
    expect(new Set(await accepted(id, [fresh, ...free]))).toEqual(new Set([true]));
  });

  test('another key, and another setting, are refused', async () => {
    const other = good(randomPrivateKey(scheme.otherKey));
    expect(await accepted(id, [other])).toEqual([false]);
    const { signature } = stored(scheme.signature, undefined, { webhook_id: 'WH-2' });
    const foreign = request(scheme, signature as CompiledSignature, scheme.secret);
    expect(await accepted(id, [foreign])).toEqual([!JSON.stringify(row.signature).includes('WH-1')]);
  });

  test('one changed bit of what is covered is refused', async () => {
    const fresh = good();
    const list = fc.array(fc.record({ part: fc.nat(), at: fc.nat(), bit: fc.nat() }), {
      minLength: 160,
      maxLength: 160,
    });
    await fc.assert(
      fc.asyncProperty(list, async (changes) => {
        const tried = changes.flatMap((change) => {
          const made = changed(fresh, scheme.covered[change.part % scheme.covered.length] as Part, change);
          return shape(made, scheme) === shape(fresh, scheme) ? [] : [made];
        });
        expect(tried.length).toBeGreaterThan(changes.length / 2);
        const verdicts = await accepted(id, tried);
        expect(tried.filter((_request, index) => verdicts[index])).toEqual([]);
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });
});

function request(scheme: Scheme, signature: CompiledSignature, secret: string): Signed {
  const { headers = {}, query = {} } = scheme;
  const made = sign({ signature, secret, timestamp: T, headers, query, body: Buffer.from(scheme.body) });
  return { ...made, headers: { ...headers, ...made.headers }, query: { ...query, ...made.query } };
}

/** What two requests have in common that mean the same: hexadecimal counts in either case. */
function shape({ headers, body }: Signed, { signature }: Scheme): string {
  const { encoding = 'hex', scheme } = signature as { encoding?: string; scheme: string };
  const value = headers['x-sig'] ?? '';
  const folded = encoding === 'hex' && !scheme.startsWith('j') ? value.toLowerCase() : value;
  return JSON.stringify([{ ...headers, 'x-sig': folded }, Buffer.from(body).toString('latin1')]);
}

async function accepted(id: string, requests: Signed[]): Promise<boolean[]> {
  const list = requests.map(({ headers, query, body }) => ({
    headers,
    query,
    body: Buffer.from(body).toString('base64'),
  }));
  const { verdicts } = await gate.row<{ verdicts: boolean[] }>(
    `SELECT array_agg(oncehook.verify($1, r -> 'headers', r -> 'query', decode(r ->> 'body', 'base64'), to_timestamp($3)) IS NULL ORDER BY n) AS verdicts
     FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS x (r, n)`,
    [id, JSON.stringify(list), T + 5],
  );
  return verdicts;
}
