import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { stored, verdict } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const T = 1_760_000_000;
const NAME = 'v1';

/** Every way to write a signature that a provider file can name, as far as `verify` looks at it. */
const signatures = fc
  .record({
    pairs: fc.option(
      fc
        .record({
          separator: fc.constantFrom(',', ';', ' ', '&', ', '),
          equals: fc.option(fc.constantFrom('=', ',', ':')),
        })
        .filter(({ separator, equals }) => separator !== equals),
    ),
    prefix: fc.option(fc.constantFrom('sha256=', 'v0=')),
    encoding: fc.constantFrom('hex', 'base64'),
    timestamp: fc.option(
      fc.record({
        unit: fc.constantFrom('s', 'ms'),
        future: fc.constantFrom('accept', 'refuse'),
        own: fc.boolean(),
      }),
    ),
    signed: fc.constantFrom(
      ['', ''],
      ['{timestamp}.', ''],
      ['v0:{timestamp}:', '!'],
      ['', '{timestamp}'],
      ['{header.x-id}.{timestamp}.', ''],
      ['', '.{header.x-id}'],
    ),
  })
  .map(({ pairs, prefix, encoding, timestamp, signed }) => {
    const around = signed.map((part) => (timestamp ? part : part.replace('{timestamp}', '')));
    if (timestamp && !around.join('').includes('{timestamp}')) around[0] += '{timestamp}';
    return {
      scheme: 'hmac',
      hash: 'sha256',
      header: 'x-sig',
      encoding,
      signed: around.join('{body}'),
      ...(pairs && {
        pairs: { separator: pairs.separator, name: NAME, ...(pairs.equals && { equals: pairs.equals }) },
      }),
      ...(!pairs && prefix && { prefix }),
      ...(timestamp && {
        timestamp: {
          ...(timestamp.own || !pairs ? { header: 'x-time' } : { pair: 't' }),
          unit: timestamp.unit,
          future: timestamp.future,
        },
      }),
    };
  });

test('the short way accepts what the full way accepts, and nothing else', async () => {
  // For these the short way is meant, so they come more often.
  const usual = [',', ';', '&', ', '].map((separator) => ({
    scheme: 'hmac',
    hash: 'sha256',
    header: 'x-sig',
    pairs: { separator, name: NAME },
    signed: '{timestamp}.{body}',
    timestamp: { pair: 't', unit: 's' },
  }));
  const sources = [...usual, ...fc.sample(signatures, { numRuns: 36, seed: 7 })];
  for (const [index, signature] of sources.entries())
    await gate.addSource(`s${index}`, stored(signature), index % 5 === 4 ? ['older', 'newer'] : undefined);
  let accepted = 0;
  const body = fc.constantFrom('{"id":1}', '', '\u00e9', '{body}{timestamp}{header.x-id}', '1760000000.');
  const id = fc.constantFrom('evt', `${T}`, '{timestamp}', '{header.x-id}', '');
  const age = fc.constantFrom(0, 0, 0, 0, 0.5, 1, 299.5, 300, 300.5, 5000, -0.5, -300.5, -5000);
  const blank = fc.constantFrom('', '', '', ' ', '  ', '\t');
  const piece = fc.tuple(
    blank,
    fc.constantFrom('mac', 'mac', 'stamp', 'stamp', 'bad mac', 'bad stamp', 'junk', 'name', 'upper'),
    blank,
  );
  const good: [string, string, string][] = [
    ['', 'stamp', ''],
    ['', 'mac', ''],
  ];
  const anything = fc.array(piece, { minLength: 1, maxLength: 4 });
  const pieces = fc.oneof(
    fc.constant(null),
    anything,
    anything.map((list) => [...list, ...good]),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.nat(sources.length - 1), fc.nat(usual.length - 1)),
      body,
      id,
      age,
      pieces,
      fc.boolean(),
      async (at, text, xId, old, list, newer) => {
        const source = sources[at];
        if (!source) return;
        const secret = at % 5 === 4 ? { secret: newer ? 'newer' : 'older' } : {};
        const headers = gate.sign(`s${at}`, text, { ...secret, timestamp: T, headers: { 'x-id': xId } });
        const header = list
          ? mangle(headers['x-sig'] ?? '', 'pairs' in source ? source.pairs : undefined, list)
          : headers['x-sig'];
        const reason = await verdict(gate, `s${at}`, { ...headers, 'x-sig': header }, text, T + old);
        if (reason === null) accepted += 1;
        if (!list && old >= 0 && old <= 300) expect(reason).toBeNull();
      },
    ),
    { numRuns: 1500 },
  );
  expect(accepted).toBeGreaterThan(300);
});

/** The header again, of good and bad pieces in any order. */
function mangle(
  good: string,
  pairs: { separator?: string; equals?: string } | undefined,
  pieces: [string, string, string][],
): string {
  const { separator = ',', equals = '=' } = pairs ?? {};
  const parts = pairs ? good.split(separator) : [good];
  const mac = parts.at(-1) ?? '';
  const stamp = parts.length > 1 ? (parts[0] ?? '') : `t${equals}${T}`;
  const texts: Record<string, string> = {
    mac,
    stamp,
    'bad mac': mac.slice(0, -6),
    'bad stamp': `t${equals}${T - 1}`,
    junk: `x${equals}1`,
    name: NAME,
    upper: mac.toUpperCase(),
  };
  return pieces.map(([before, name, after]) => before + texts[name] + after).join(separator);
}
