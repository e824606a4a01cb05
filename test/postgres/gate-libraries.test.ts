import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicUrl, secretOf, sourceOf } from '../catalogue/requests.ts';
import { type Library, libraries } from '../oracles/libraries.ts';
import { type Gate, openGate } from './harness/gate.ts';
import { verdict } from './harness/gate-signatures.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.database.drop());

/** What is easily changed on the way: numbers, escapes, letters beyond ASCII, the end of the line. */
const BODY = '{"id":"evt_1","type":"t","n":1.0,"url":"a\\/b","e":"\\u00e9 é 😀"}\n';
const FORM = 'To=%2B1555&Body=h%C3%A9+llo+%F0%9F%98%80&Empty=&a=1.0';

const signing = Object.entries(libraries).flatMap(([slug, { sign }]) =>
  sign ? [[slug, sign] as [string, NonNullable<Library['sign']>]] : [],
);

describe.each(signing)('what the library of %s signs', (slug, sign) => {
  test('is accepted, and nothing else', async () => {
    const source = sourceOf(slug);
    const form = source.providerFile.content_type === 'application/x-www-form-urlencoded';
    const body = form ? FORM : BODY;
    const own = {
      'content-type': source.providerFile.content_type,
      'webhook-id': 'msg_1',
      'svix-id': 'msg_1',
    };
    await gate.addSource(slug, source, [secretOf(source)]);
    const at = Math.floor(Date.now() / 1000);
    const signed = async (secret: string) => ({
      ...own,
      ...(await sign({ body: Buffer.from(body), headers: own, query: {}, secret, url: publicUrl(slug) }, at)),
    });
    const headers = await signed(secretOf(source));
    expect(await verdict(gate, slug, headers, body, at)).toBeNull();
    expect(await verdict(gate, slug, headers, `${body}${form ? '&x=1' : ' '}`, at)).toBe('signature wrong');
    expect(await verdict(gate, slug, await signed(secretOf(source, 'b')), body, at)).toBe('signature wrong');
  });
});
