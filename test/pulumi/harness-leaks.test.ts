import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leaks } from './harness/leaks.ts';

const secrets = { password: 'pa/s+s w?rd-8Jx' };

test('a secret is found however it is written, wherever it stands', () => {
  const around = fc.string({ unit: 'binary', maxLength: 20 });
  fc.assert(
    fc.property(around, around, (before, after) => {
      const text = Buffer.from(`${before}${secrets.password}${after}`);
      for (const coding of ['utf8', 'base64', 'base64url', 'hex'] as const) {
        expect(leaks(`x ${text.toString(coding)} x`, secrets)).toEqual(['password']);
      }
      expect(leaks(encodeURIComponent(secrets.password), secrets)).toEqual(['password']);
    }),
  );
});

test('what holds no secret is not suspected', () => {
  expect(leaks(JSON.stringify({ password: 'pa/s+s', ciphertext: 'v1:AAAA' }), secrets)).toEqual([]);
});
