import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CompiledSignature } from '../../src/providers/compiled.ts';
import { randomPrivateKey } from '../../src/providers/key-pair.ts';
import type { Signed } from '../../src/providers/sign.ts';
import { asymmetricSchemes } from './harness/asymmetric-schemes.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { changed } from './harness/gate-changes.ts';
import type { Part, Scheme } from './harness/gate-schemes.ts';
import { stored } from './harness/gate-signatures.ts';
import { accepted, signedRequest } from './harness/gate-verdicts.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const SETTINGS = { webhook_id: 'WH-1' };

describe.each(Object.entries(asymmetricSchemes))('%s', (name, scheme) => {
  const id = `a${Object.keys(asymmetricSchemes).indexOf(name)}`;
  const row = stored(scheme.signature, undefined, SETTINGS);
  const good = (secret = scheme.secret) => signedRequest(scheme, row.signature as CompiledSignature, secret);
  beforeAll(() => gate.addSource(id, row, [scheme.secret, randomPrivateKey(scheme.otherKey)]));

  test('what the signer makes is accepted, and with any change of what is not covered', async () => {
    const fresh = good();
    const free = (scheme.free ?? []).map((part) => changed(fresh, part, { part: 0, at: 3, bit: 1 }));
    expect(new Set(await accepted(gate, id, [fresh, ...free]))).toEqual(new Set([true]));
  });

  test('another key, and another setting, are refused', async () => {
    const other = good(randomPrivateKey(scheme.otherKey));
    expect(await accepted(gate, id, [other])).toEqual([false]);
    const { signature } = stored(scheme.signature, undefined, { webhook_id: 'WH-2' });
    const foreign = signedRequest(scheme, signature as CompiledSignature, scheme.secret);
    expect(await accepted(gate, id, [foreign])).toEqual([!JSON.stringify(row.signature).includes('WH-1')]);
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
        const verdicts = await accepted(gate, id, tried);
        expect(tried.filter((_request, index) => verdicts[index])).toEqual([]);
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });
});

/** What two requests have in common that mean the same: hexadecimal counts in either case. */
function shape({ headers, body }: Signed, { signature }: Scheme): string {
  const { encoding = 'hex', scheme } = signature as { encoding?: string; scheme: string };
  const value = headers['x-sig'] ?? '';
  const folded = encoding === 'hex' && !scheme.startsWith('j') ? value.toLowerCase() : value;
  return JSON.stringify([{ ...headers, 'x-sig': folded }, Buffer.from(body).toString('latin1')]);
}
