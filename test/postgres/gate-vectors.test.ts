import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { readVectors, stored, verdict } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const vectors = readVectors();

describe.each(vectors)("the official library's signature of %s", (name, vector) => {
  beforeAll(() => gate.addSource(name, stored(vector.signature), [vector.secret]));
  const at = vector.timestamp + 5;

  test('is accepted, by the function that n8n calls and by id', async () => {
    expect(await verdict(gate, name, vector.headers, vector.body, at)).toBeNull();
    const byId = await gate.row(
      'SELECT oncehook.verify($1::text, $2::jsonb, $3::bytea, to_timestamp($4)) AS reason',
      [name, JSON.stringify(vector.headers), Buffer.from(vector.body), at],
    );
    expect(byId).toEqual({ reason: null });
  });

  test('is refused with any one byte of the body changed, left out or doubled', async () => {
    const { tried, accepted } = await gate.row(
      `SELECT count(*)::int AS tried,
         count(*) FILTER (WHERE oncehook.verify($1::text, $2::jsonb, tampered, to_timestamp($4)) IS NULL)::int AS accepted
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
    const { header, signed } = vector.signature as { header: string; signed: string };
    let tried = 0;
    for (const [header_, value] of Object.entries(vector.headers)) {
      if (header_ !== header && !signed.includes(header_) && !header_.endsWith('timestamp')) continue;
      // The first of several signatures may be whatever it is.
      for (let at_ = Math.max(0, value.lastIndexOf(' ') + 1); at_ < value.length; at_++) {
        const other = value[at_] === '1' ? '2' : '1';
        const headers = { ...vector.headers, [header_]: value.slice(0, at_) + other + value.slice(at_ + 1) };
        expect(await verdict(gate, name, headers, vector.body, at), headers[header_]).not.toBeNull();
        tried += 1;
      }
      const { [header_]: _left, ...without } = vector.headers;
      expect(await verdict(gate, name, without, vector.body, at)).not.toBeNull();
    }
    expect(tried).toBeGreaterThan(40);
  });

  test('is refused with another secret, and with none', async () => {
    await gate.addSource('other', stored(vector.signature), []);
    expect(await verdict(gate, 'other', vector.headers, vector.body, at)).toBe('no secret stored');
    const text = vector.secret.replace(/.{6}$/, 'AAAAA=');
    await gate.addSecret('other', text, 'wrong');
    expect(await verdict(gate, 'other', vector.headers, vector.body, at)).not.toBeNull();
    await gate.owner.query("DELETE FROM oncehook.webhook_secrets WHERE source_id = 'other'");
  });
});
