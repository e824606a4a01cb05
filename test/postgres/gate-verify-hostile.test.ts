import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CompiledSignature } from '../../src/providers/compiled.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { type Scheme, schemes, URL_SIGNED } from './harness/gate-schemes.ts';
import { stored } from './harness/gate-signatures.ts';
import { deliver } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

/** What a hostile sender may put in the place of any one value. */
const values: [name: string, value: unknown][] = [
  ['missing', undefined],
  ['null', null],
  ['empty', ''],
  ['blank', ' '],
  ['64 kB', 'v1='.repeat(22_000)],
  ['64 kB of hex', '0'.repeat(65_536)],
  ['Unicode', '\u0661\u0660\u202e\ufeff\u212aé😀'],
  ['a lone surrogate', '\ud800'],
  ['NUL', 'a\0b'],
  ['control characters', '\x01\x7f\r\n\t'],
  ['base64 that is none', '====!!!'],
  ['a number', 17],
  ['a huge number', 1e300],
  ['true', true],
  ['a list', ['x', 'x']],
  ['an object', { a: { b: [1] } }],
  ['SQL', `'; DROP TABLE oncehook.webhook_events; --`],
  ['a placeholder', '{body}{secret}{timestamp}'],
  ['a pattern', '%_\\(.*+?)['],
  ['a time too long', '9'.repeat(400)],
  ['a negative time', '-1'],
  ['only separators', ',;=,; =,'.repeat(200)],
];

describe.each(Object.entries(schemes))('%s', (name, scheme) => {
  const id = `h${Object.keys(schemes).indexOf(name)}`;
  const row = stored(scheme.signature, URL_SIGNED);
  const secret = scheme.secret ?? 'top secret';
  beforeAll(() => gate.addSource(id, { ...row, key: '{body_sha256}' }, [secret]));
  const good = () =>
    gate.request(id, scheme.body, { secret, headers: scheme.headers ?? {}, query: scheme.query ?? {} });

  test('nothing hostile is accepted, and nothing raises', async () => {
    const request = good();
    expect((await deliver(gate.n8n, { source: id, ...request })).outcome).toBe('new');
    for (const [what, value] of values) {
      for (const [where, delivery] of hostile(row.signature as CompiledSignature, request, value, scheme)) {
        const { outcome, code, reason } = await deliver(gate.n8n, { source: id, ...delivery });
        expect([outcome, code, typeof reason], `${what} ${where}`).toEqual(['rejected', 401, 'string']);
      }
    }
  });

  test('a header that came twice is refused, and a right signature among wrong ones is found where lists are', async () => {
    const request = good();
    const {
      header,
      pairs,
      scheme: kind,
    } = {
      ...(row.signature as Partial<Record<string, string>> & {
        pairs?: { separator: string; name: string; equals?: string };
      }),
    };
    if (header === undefined) return;
    const value = request.headers[header] ?? '';
    const twice = await deliver(gate.n8n, {
      source: id,
      ...request,
      headers: { ...request.headers, [header]: `${value}, ${value}` },
    });
    // HTTP joins them by a comma and a blank: where either separates pairs it is a longer list, else no signature.
    expect(twice.outcome, kind).toBe([',', ' '].includes(pairs?.separator ?? '') ? 'duplicate' : 'rejected');
    if (!pairs) return;
    const wrong = `${pairs.name}${pairs.equals ?? '='}${'0'.repeat(40)}`;
    for (const list of [`${wrong}${pairs.separator}${value}`, `${value}${pairs.separator}${wrong}`]) {
      const answer = await deliver(gate.n8n, {
        source: id,
        ...request,
        headers: { ...request.headers, [header]: list },
      });
      expect(answer.outcome, list).toBe('duplicate');
    }
  });
});

type Delivery = { headers: Record<string, unknown>; query: Record<string, unknown>; body: Uint8Array };

/** The request with the value in each place that the scheme looks at. */
function hostile(
  signature: CompiledSignature,
  good: Delivery,
  value: unknown,
  { covered }: Scheme,
): [string, Delivery][] {
  const found: [string, Delivery][] = [];
  for (const part of covered) {
    if (typeof part === 'string') continue;
    if ('header' in part)
      found.push([part.header, { ...good, headers: { ...good.headers, [part.header]: value } }]);
    if ('query' in part) found.push([part.query, { ...good, query: { ...good.query, [part.query]: value } }]);
    if ('path' in part) {
      const root = JSON.parse(Buffer.from(good.body).toString());
      const parent = part.path.slice(0, -1).reduce((at, step) => at[step], root);
      const last = part.path.at(-1) ?? '';
      if (parent[last] === value) continue;
      parent[last] = value;
      found.push([part.path.join('.'), { ...good, body: Buffer.from(JSON.stringify(root)) }]);
    }
    if ('field' in part) {
      const fields = new URLSearchParams(Buffer.from(good.body).toString());
      if (fields.get(part.field) === String(value)) continue;
      fields.set(part.field, String(value));
      found.push([part.field, { ...good, body: Buffer.from(fields.toString()) }]);
    }
  }
  const whole =
    covered.includes('body') || signature.scheme === 'hash' ? [Buffer.from(JSON.stringify(value) ?? '')] : [];
  return [...found, ...whole.map((body): [string, Delivery] => ['the body', { ...good, body }])];
}
