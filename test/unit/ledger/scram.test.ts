import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scramVerifier } from '../../../src/ledger/scram.ts';

const parse = (verifier: string) => {
  const [, iterations, salt, storedKey, serverKey] =
    /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(verifier) ?? [];
  const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
  return {
    iterations: Number(iterations),
    salt: bytes(salt),
    storedKey: bytes(storedKey),
    serverKey: bytes(serverKey),
  };
};

test("RFC 7677's example: the verifier proves the server and accepts the client", () => {
  const salt = 'W22ZaJ0SNY7soEsUEjb6gQ==';
  const nonce = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
  const auth = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=${salt},i=4096,c=biws,r=${nonce}`;
  const { storedKey, serverKey, iterations } = parse(
    scramVerifier('pencil', 'X', Buffer.from(salt, 'base64')),
  );
  expect(iterations).toBe(4096);
  expect(createHmac('sha256', serverKey).update(auth).digest('base64')).toBe(
    '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  );
  const proof = Buffer.from('dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=', 'base64');
  const signature = createHmac('sha256', storedKey).update(auth).digest();
  const clientKey = proof.map((byte, index) => byte ^ (signature[index] ?? 0));
  expect(createHash('sha256').update(clientKey).digest()).toEqual(storedKey);
});

test('any printable ASCII password: its own salt, and keys that follow from both', () => {
  const printable = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(printable, (password) => {
      const [one, two] = [scramVerifier(password, 'X'), scramVerifier(password, 'X')];
      expect(one).not.toBe(two);
      const { salt, storedKey, iterations } = parse(one);
      const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
      const clientKey = createHmac('sha256', salted).update('Client Key').digest();
      expect(createHash('sha256').update(clientKey).digest()).toEqual(storedKey);
      expect(one.includes(password) && password.length > 8).toBe(false);
    }),
    { numRuns: 15 },
  );
});

test('what SASLprep would change, or Postgres would misread, is refused without being quoted', () => {
  const other = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/^[\x20-\x7e]*$/.test(text));
  fc.assert(
    fc.property(other, (password) => {
      expect(() => scramVerifier(password, 'THE_SETTING')).toThrow(
        expect.objectContaining({ name: 'UserError', message: expect.stringContaining('THE_SETTING') }),
      );
    }),
  );
  expect(() => scramVerifier('', 'THE_SETTING')).toThrow('THE_SETTING');
});
