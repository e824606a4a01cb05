import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { loadProvider } from '../../../src/providers/load.ts';
import { freshSample, plainSample, type SampleSource } from '../../../src/providers/sample.ts';

const source = (more: Partial<SampleSource>): SampleSource => ({
  content_type: 'application/json',
  key: '{body.id}',
  samples: { made: { body: { id: 'e1', kind: 'made', n: 7 }, headers: { 'x-id': 'h1' }, query: {} } },
  ...more,
});
const parsed = (from: SampleSource, nonce = 'n') => {
  const { body, ...rest } = freshSample(from, undefined, nonce);
  return { ...rest, body: JSON.parse(Buffer.from(body).toString()) };
};

describe('a fresh sample', () => {
  it('is the same for one nonce and another event for another', () => {
    expect(freshSample(source({}), 'made', 'a')).toEqual(freshSample(source({}), 'made', 'a'));
    expect(freshSample(source({}), 'made', 'a').body).not.toEqual(freshSample(source({}), 'made', 'b').body);
  });

  it.each([
    ['a body path', '{body.id}', { body: { id: 'e1_n', kind: 'made', n: 7 } }],
    ['the part that is not the type', '{body.id}:{body.kind}', { body: { id: 'e1_n', kind: 'made', n: 7 } }],
    ['a path that the sample lacks', '{body.a.b}', { body: { id: 'e1', kind: 'made', n: 7, a: { b: 'n' } } }],
    [
      'a header',
      '{header.X-Id}\n{body.id}',
      { headers: { 'content-type': 'application/json', 'x-id': 'h1_n' } },
    ],
    [
      'the alternative that gives the key',
      '{body.nothing}:{body.id}\n{header.x-none}\n{body.id}',
      { body: { id: 'e1_n', kind: 'made', n: 7 } },
    ],
    ['a query parameter', '{query.q}', { query: { q: 'n' } }],
    ['the whole body', '{body_sha256}', { body: { id: 'e1', kind: 'made', n: 7, oncehook_nonce: 'n' } }],
    [
      'a step named like the prototype',
      '{body.__proto__}',
      { body: JSON.parse('{"id":"e1","kind":"made","n":7,"__proto__":"n"}') },
    ],
  ])('changes %s', (_case, key, expected) => {
    expect(parsed(source({ key, type: '{body.kind}' }))).toMatchObject(expected);
  });

  it('keeps a number a number that every parser reads exactly', () => {
    const { n } = parsed(source({ key: '{body.n}' })).body;
    expect(Number.isSafeInteger(n)).toBe(true);
    expect(n).not.toBe(7);
  });

  it('sends a form where the provider does, and a text as it is', () => {
    const form = source({ content_type: 'application/x-www-form-urlencoded' });
    expect(Buffer.from(freshSample(form, undefined, 'ä').body).toString()).toBe('id=e1_%C3%A4&kind=made&n=7');
    const text = source({ samples: { raw: { body: 'as it is', headers: {}, query: {} } } });
    expect(Buffer.from(freshSample(text, undefined, 'n').body).toString()).toBe('as it is');
  });

  it('has the content type of its own, fresh or as it stands in the file', () => {
    const own = {
      body: { id: 'a b' },
      headers: {},
      query: {},
      content_type: 'application/x-www-form-urlencoded',
    };
    const fresh = freshSample(source({ samples: { own } }), undefined, 'n');
    expect([Buffer.from(fresh.body).toString(), fresh.headers['content-type']]).toEqual([
      'id=a+b_n',
      'application/x-www-form-urlencoded',
    ]);
    const { body, headers } = plainSample(own, 'application/json');
    expect([Buffer.from(body).toString(), headers]).toEqual(['id=a+b', { 'content-type': own.content_type }]);
  });

  it('leaves the provider as it was', () => {
    const provider = loadProvider('stripe');
    const before = structuredClone(provider);
    freshSample(provider, undefined, 'n');
    expect(provider).toEqual(before);
  });

  it('is refused for a type without a sample, with the nearest one', () => {
    expect(() => freshSample(source({}), 'mad', 'n')).toThrow(UserError);
    expect(() => freshSample(source({}), 'mad', 'n')).toThrow(/made/);
  });
});
