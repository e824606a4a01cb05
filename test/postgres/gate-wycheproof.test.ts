import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { type KeyCheck, keysHold, storable } from './harness/public-keys.ts';

/**
 * Project Wycheproof's vectors, of which this repository holds none: `ONCEHOOK_TEST_WYCHEPROOF` names the folder
 * `testvectors_v1` of a clone (https://github.com/C2SP/wycheproof).
 */
const folder = process.env['ONCEHOOK_TEST_WYCHEPROOF'];
const files =
  folder === undefined
    ? []
    : readdirSync(folder).filter((file) =>
        /^(rsa_signature_(2048|3072|4096)_sha(256|384|512)|ecdsa_secp256r1_sha256(_p1363)?|ed25519)_test\.json$/.test(
          file,
        ),
      );

interface Group {
  publicKeyPem: string;
  sha?: string;
  tests: { tcId: number; comment: string; msg: string; sig: string; result: string }[];
}

let gate: Gate;
beforeAll(async () => {
  if (files.length > 0) gate = await openGate();
});
afterAll(() => gate?.database.drop());

describe("Wycheproof's vectors", () => {
  test.skipIf(files.length === 0).each(files.length > 0 ? files : ['none given'])('%s', async (file) => {
    const { testGroups } = JSON.parse(readFileSync(join(folder ?? '', file), 'utf8')) as {
      testGroups: Group[];
    };
    const kind = file.startsWith('rsa') ? 'rsa' : file.startsWith('ecdsa') ? 'p256' : 'ed25519';
    const format = file.includes('p1363') ? 'raw' : 'der';
    const tried: { check: KeyCheck; want: string; name: string }[] = [];
    for (const { publicKeyPem, sha = '', tests } of testGroups) {
      const key = storable(kind, publicKeyPem);
      for (const { tcId, comment, msg, sig, result } of tests) {
        const name = `${tcId} ${comment}`;
        // A key that cannot be stored checks nothing.
        if (!key) expect(result, name).not.toBe('valid');
        else
          tried.push({
            name,
            want: result,
            check: {
              rule: { key_kind: kind, hash: sha.toLowerCase().replace('-', ''), format },
              key,
              message: Buffer.from(msg, 'hex'),
              mac: Buffer.from(sig, 'hex'),
            },
          });
      }
    }
    const verdicts: boolean[] = [];
    for (let from = 0; from < tried.length; from += 50)
      verdicts.push(
        ...(await keysHold(
          gate,
          tried.slice(from, from + 50).map(({ check }) => check),
        )),
      );
    const wrong = tried.filter(
      ({ want }, index) => want !== 'acceptable' && verdicts[index] !== (want === 'valid'),
    );
    expect(wrong.map(({ name, want }) => `${name}: ${want}`)).toEqual([]);
    expect(verdicts.filter(Boolean).length).toBeGreaterThan(0);
  });
});
