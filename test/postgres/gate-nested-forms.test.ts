import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sortedJson } from '../../src/providers/signing/nested.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { stored, verdict } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

const T = 1_760_000_000;
const signature = { scheme: 'hmac', header: 'sign', signed: '{form|sorted-json}' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const step = fc.oneof(
  fc.constantFrom('0', '1', '2', '10', '01', 'a', 'b', 'é', 'A', '_', '-1', '1234567890123456'),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 3 })
    .filter((text) => !/[[\]\0\ud800-\udfff]/.test(text)),
);
const value = fc.oneof(
  fc.constantFrom('', '/', '"', '\\', '\n', '\u2028', '\u2029', '\u007f', '\u001f', '😀'),
  fc
    .string({ unit: 'grapheme', maxLength: 6 })
    .filter((text) => !/[\0\ud800-\udfff]/.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''))),
);
const fields = fc.array(
  fc.tuple(
    fc
      .array(step, { minLength: 1, maxLength: 3 })
      .map(([first, ...more]) => `${first}${more.map((s) => `[${s}]`).join('')}`),
    value,
  ),
  { maxLength: 8 },
);

test('Postgres and the signer write every nested form alike, or both refuse it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { minLength: 50, maxLength: 50 }), async (forms) => {
      const ours = forms.map((list) => {
        try {
          return sortedJson({ kind: 'form', fields: list });
        } catch {
          return null;
        }
      });
      const { texts } = await gate.row<{ texts: (string | null)[] }>(
        'SELECT array_agg(oncehook.form_as_json(f) ORDER BY n) AS texts FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS x (f, n)',
        [JSON.stringify(forms)],
      );
      expect(texts).toEqual(ours);
    }),
    { numRuns: 10 },
  );
});

test('every field is covered, under its name, and no other body has the same signature', async () => {
  await gate.addSource('nested', stored(signature));
  const body =
    'order=1&p%5B0%5D%5Bname%5D=%D0%A7%D0%B0%D0%B9%2F1&p%5B0%5D%5Bsum%5D=1.00&p%5B1%5D%5Bname%5D=b';
  const headers = gate.sign('nested', body, { headers: FORM });
  const says = (sent: string, more: object = {}) => verdict(gate, 'nested', { ...headers, ...more }, sent, T);
  expect(await says(body)).toBeNull();
  expect(await says(body.split('&').reverse().join('&'))).toBeNull();
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  expect(await says(body, multipart)).toBeNull();
  for (const sent of [
    `${body}&x=1`,
    body.replace('order=1', 'order=2'),
    body.replace('order', 'ordes'),
    body.replace('5B1', '5B2'),
    body.replace('1.00', '1'),
    body.replace('&p%5B1%5D%5Bname%5D=b', ''),
    `${body}&p=1`,
    `${body}&p%5B%5D=1`,
    '',
    'order',
    JSON.stringify({ order: '1', p: [{ name: 'Чай/1', sum: '1.00' }, { name: 'b' }] }),
  ])
    expect(await says(sent), sent).not.toBeNull();
  expect(await says(body, { 'content-type': 'application/json' })).not.toBeNull();
});

test('hostile names raise nothing, and cost little', async () => {
  await gate.addSource('hostile', stored(signature));
  for (const name of [
    '[',
    ']',
    '[]',
    'a[[',
    'a[b]]',
    `a${'[b]'.repeat(9)}`,
    `a${'[b]'.repeat(3000)}`,
    '%00',
    '%ff',
    '',
  ]) {
    const body = `${name}=1&a=2`;
    expect(await verdict(gate, 'hostile', { ...FORM, sign: '00' }, body, T), name).toMatch(
      /wrong|cannot be read/,
    );
  }
  const many = Array.from({ length: 9000 }, (_, index) => `a[${index}][b]=1`).join('&');
  expect(await verdict(gate, 'hostile', gate.sign('hostile', many, { headers: FORM }), many, T)).toBeNull();
});
