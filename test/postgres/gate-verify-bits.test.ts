import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileSignature } from '../../src/providers/compile.ts';
import type { CompiledSignature } from '../../src/providers/compiled.ts';
import type { Signed } from '../../src/providers/sign.ts';
import { signatureSchema } from '../../src/providers/signature.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { type Change, changed, flip } from './harness/gate-changes.ts';
import { type Part, type Scheme, schemes, URL_SIGNED } from './harness/gate-schemes.ts';
import { stored } from './harness/gate-signatures.ts';
import { accepted, signedRequest } from './harness/gate-verdicts.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const changes = fc.array(fc.record({ part: fc.nat(), at: fc.nat(), bit: fc.nat() }), {
  minLength: 300,
  maxLength: 300,
});

describe.each(Object.entries(schemes))('%s', (name, scheme) => {
  const id = `s${Object.keys(schemes).indexOf(name)}`;
  const secret = scheme.secret ?? 'top secret';
  const row = stored(scheme.signature, URL_SIGNED);
  const good = () => signedRequest(scheme, row.signature as CompiledSignature, secret);
  beforeAll(() => gate.addSource(id, row, [secret]));

  test('what the signer makes is accepted, and with any change of what is not covered', async () => {
    const fresh = good();
    const free = (scheme.free ?? []).map((part) => changed(fresh, part, { part: 0, at: 3, bit: 1 }));
    expect(new Set(await accepted(gate, id, [fresh, ...free]))).toEqual(new Set([true]));
  });

  test('one changed bit of what is covered is refused', async () => {
    const fresh = good();
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const tried = list.flatMap((change) => {
          const part = scheme.covered[change.part % scheme.covered.length] as Part;
          const made = tampered(scheme, fresh, part, change, secret);
          return made && !same(scheme, fresh, made) ? [made] : [];
        });
        expect(tried.length).toBeGreaterThan(list.length / 3);
        const verdicts = await accepted(gate, id, tried);
        expect(tried.filter((_request, index) => verdicts[index])).toEqual([]);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});

/** The address and the secret are no parts of a request: it is signed anew with other ones. */
function tampered(
  scheme: Scheme,
  good: Signed,
  part: Part,
  change: Change,
  secret: string,
): Signed | undefined {
  if (part !== 'secret' && part !== 'url') return changed(good, part, change);
  const url = part === 'url' ? flip(URL_SIGNED, change) : URL_SIGNED;
  const signature = compileSignature(signatureSchema.parse(scheme.signature), { publicUrl: url });
  return signedRequest(scheme, signature, part === 'secret' ? flip(secret, change) : secret);
}

/** Hexadecimal counts in either case, as does the word Basic; a form may write its bytes in other ways. */
function same({ signature, headers }: Scheme, a: Signed, b: Signed): boolean {
  const { encoding = 'hex', scheme } = signature as { encoding?: string; scheme: string };
  const fold = (text: string) => {
    if (scheme === 'basic') return text.slice(0, 6).toLowerCase() + text.slice(6);
    return encoding === 'hex' && /^[^{]*[0-9a-f]{32,}$/i.test(text)
      ? text.replace(/[0-9a-f]{32,}$/i, (mac) => mac.toLowerCase())
      : text;
  };
  const shape = ({ body, headers: all, query }: Signed) =>
    JSON.stringify(
      [all, query].map((named) => Object.entries(named).map(([key, value]) => [key, fold(value)])),
    ) +
    (headers?.['content-type']
      ? JSON.stringify([...new URLSearchParams(text(body))].map(([key, value]) => [key, fold(value)]))
      : foldJson(text(body), fold));
  return shape(a) === shape(b);
}

function foldJson(body: string, fold: (text: string) => string): string {
  return body.startsWith('{') && !body.endsWith('\n')
    ? body.replace(/"([0-9a-fA-F]{32,})"/g, (_all, mac: string) => `"${fold(mac)}"`)
    : body;
}

const text = (body: Uint8Array) => Buffer.from(body).toString('latin1');
