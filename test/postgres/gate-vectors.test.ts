import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CompiledSignature, isMac } from '../../src/providers/compiled.ts';
import { isBody, partsFrom } from '../../src/providers/signed.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { readVectors, stored, verdict } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const vectors = readVectors();

describe.each(vectors)('the official signature of %s', (name, vector) => {
  const row = stored(vector.signature, vector.url);
  const { scheme, query = {} } = { ...(vector.signature as { scheme: string }), ...vector };
  const signature = row.signature as CompiledSignature;
  const signed = isMac(signature) ? signature.signed : [];
  beforeAll(() => gate.addSource(name, row, [vector.secret]));
  const at = vector.timestamp + 5;
  const says = (headers: object, body = vector.body, params: Record<string, unknown> = query) =>
    verdict(gate, name, { ...headers }, body, at, params);

  test('is accepted, by the function that n8n calls and by id', async () => {
    expect(['hmac', 'hash']).toContain(scheme);
    expect(await says(vector.headers)).toBeNull();
  });

  if (signed.every((parts) => parts.some(isBody)))
    test('is refused with any one byte of the body changed, left out or doubled', async () => {
      const { tried, accepted } = await gate.row(
        `SELECT count(*)::int AS tried,
         count(*) FILTER (WHERE oncehook.verify($1::text, $2::jsonb, '{}', tampered, to_timestamp($4)) IS NULL)::int AS accepted
       FROM (SELECT $3::bytea AS b) AS given, generate_series(0, octet_length(b) - 1) AS i, generate_series(0, 9) AS kind,
         LATERAL (SELECT CASE kind
           WHEN 8 THEN substr(b, 1, i) || substr(b, i + 2)
           WHEN 9 THEN substr(b, 1, i + 1) || substr(b, i + 1)
           ELSE set_byte(b, i, get_byte(b, i) # (1 << kind)) END AS tampered) AS t`,
        [name, JSON.stringify(vector.headers), Buffer.from(vector.body), at],
      );
      expect(accepted).toBe(0);
      expect(tried).toBe(Buffer.byteLength(vector.body) * 10);
    });

  test('is refused with any one character of what is signed or signs changed', async () => {
    const covered = signed.flatMap((parts) => partsFrom(parts, 'header').flatMap(({ path = [] }) => path));
    const own = isMac(signature) ? [signature.header, signature.timestamp?.header] : [];
    let tried = 0;
    for (const [header, value] of Object.entries(vector.headers)) {
      if (![...covered, ...own].includes(header)) continue;
      const { name: pair, equals = '=' } = (isMac(signature) && signature.pairs) || { name: '' };
      // The first of several signatures, and pairs of other names, may be whatever they are.
      const from =
        isMac(signature) && header === signature.header && pair ? value.lastIndexOf(`${pair}${equals}`) : 0;
      const { separator = '' } = (isMac(signature) && signature.pairs) || {};
      const end =
        separator && value.indexOf(separator, from) > 0 ? value.indexOf(separator, from) : value.length;
      for (let index = from; index < end; index++) {
        const other = value[index] === '1' ? '2' : '1';
        const headers = {
          ...vector.headers,
          [header]: value.slice(0, index) + other + value.slice(index + 1),
        };
        expect(await says(headers), headers[header]).not.toBeNull();
        tried += 1;
      }
      const { [header]: _left, ...without } = vector.headers;
      expect(await says(without)).not.toBeNull();
    }
    if (own.some(Boolean)) expect(tried).toBeGreaterThan(20);
  });

  test('is refused with another secret, and with none', async () => {
    const other = `other-${name}`;
    await gate.addSource(other, row, []);
    const otherSays = () => verdict(gate, other, vector.headers, vector.body, at, query);
    expect(await otherSays()).toBe('no secret stored');
    await gate.addSecret(
      other,
      vector.secret.replace(/.{4}$/, vector.secret.length === 64 ? '0AA0' : 'AAA='),
      'wrong',
    );
    expect(await otherSays()).toBe('signature wrong');
  });
});
