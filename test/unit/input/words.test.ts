import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressSchema } from '../../../src/input/addresses.ts';
import { durationSeconds, formatDuration } from '../../../src/input/duration.ts';
import { suggest } from '../../../src/input/suggest.ts';

describe('a duration', () => {
  it('is the same after writing and reading it again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e8 }), (seconds) => {
        expect(durationSeconds(formatDuration(seconds))).toBe(seconds);
      }),
    );
  });

  it.each([
    ['90s', 90],
    ['15m', 900],
    ['2h', 7_200],
    ['30d', 2_592_000],
  ])('%s has %i seconds', (text, seconds) => {
    expect(durationSeconds(text)).toBe(seconds);
  });

  it.each(['', '5', 'm', '0s', '01m', '1.5h', '-1s', '1 m', '1M', '1w', '1h30m', '1e3s', '9'.repeat(20)])(
    'is not %j',
    (text) => {
      expect(durationSeconds(text)).toBeUndefined();
    },
  );
});

describe('a suggestion', () => {
  it('finds a word behind one slip of the finger', () => {
    const known = ['path', 'provider', 'retention', 'max_attempts', 'tolerance'];
    const slip = fc.tuple(fc.constantFrom(...known), fc.nat(), fc.constantFrom('drop', 'double', 'swap'));
    fc.assert(
      fc.property(slip, ([word, position, kind]) => {
        const at = position % (word.length - 1);
        const [before, a, b, after] = [
          word.slice(0, at),
          word[at] ?? '',
          word[at + 1] ?? '',
          word.slice(at + 2),
        ];
        const wrong = before + { drop: b, double: a + a + b, swap: b + a }[kind] + after;
        expect(suggest(wrong, known)).toBe(word);
      }),
    );
  });

  it('is not made where nothing is near', () => {
    expect(suggest('colour', ['provider', 'path', 'id'])).toBeUndefined();
    expect(suggest('x'.repeat(1e6), ['provider'])).toBeUndefined();
  });
});

describe('an address', () => {
  it('is any address or network that does not hold the loopback address', () => {
    const network = fc.oneof(
      fc.tuple(fc.ipV4(), fc.integer({ min: 8, max: 32 })),
      fc.tuple(
        fc.ipV6().filter((ip) => /^[2-9a-f]{4}:/.test(ip)),
        fc.integer({ min: 16, max: 128 }),
      ),
    );
    fc.assert(
      fc.property(network, ([ip, prefix]) => {
        fc.pre(!ip.startsWith('127.'));
        expect(addressSchema.safeParse(ip).success).toBe(true);
        expect(addressSchema.safeParse(`${ip}/${prefix}`).success).toBe(true);
      }),
    );
  });

  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/08',
    '1.2.3.4/8/8',
    '::/129',
    'fe80::1%eth0',
    ' 1.2.3.4',
    '127.0.0.1',
    '127.9.9.9',
    '126.0.0.0/7',
    '0.0.0.0/0',
    '::1',
    '::/0',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ])('is not %j', (text) => {
    expect(addressSchema.safeParse(text).success).toBe(false);
  });
});
