import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { compileBatches, fetchParts, shapeOf } from '../../../src/providers/compile-batches.ts';
import { parseProvider } from '../../../src/providers/load.ts';
import { compileRules } from '../../../src/providers/rules.ts';
import { freshSample } from '../../../src/providers/sample.ts';
import { withFixtures } from '../../fixtures/catalogue.ts';

const several = withFixtures.load('several');
const changes = withFixtures.load('changes');
const json = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes ?? '').toString());

const provider = (more: string) =>
  parseProvider(
    'p',
    `name: P\ncategory: test\ndocs: []\ncontent_type: application/json\nsignature: { scheme: none }\nkey: "{body.0.id}"\nretry: { window: null }\nsamples: { a: { body: [] } }\n${more}`,
    'p.yaml',
  );

describe('the rules of a source', () => {
  it.each([
    ['body.*', [[null]]],
    ['body.events.*', [['events', null]]],
    ['body."a.b".*.x.*', [['a.b', null, 'x', null]]],
  ])('hold the steps of %s', (items, steps) => {
    expect(compileBatches(provider(`items: ${items}`)).items).toEqual(steps);
  });

  it('hold what an object is fetched by', () => {
    expect(compileRules(changes)).toMatchObject({
      fetch: { values: ['{body.id}'], ids: 'tr_[A-Za-z0-9]{1,40}' },
    });
    expect(shapeOf(compileRules(changes))).toBe('fetch');
    expect(shapeOf(compileRules(several))).toBe('items');
    expect(shapeOf(null)).toBe('event');
  });

  it('make an address of literal text, settings and values of the request', () => {
    const url = 'https://api.example/{setting.shop}/{body.id}/x/{header.h}?a={body.id}';
    expect(fetchParts(url, { shop: 'a b' })).toEqual({
      parts: ['https://api.example/', 'a%20b', '/', { value: 0 }, '/x/', { value: 1 }, '?a=', { value: 0 }],
      values: ['{body.id}', '{header.h}'],
    });
  });

  it.each([
    ['an item within an earlier one', 'items: [body.e.*, body.e.*.x.*]'],
    ['a path without a list', 'items: body.events'],
    [
      'a host from the request',
      'fetch: { url: "https://{body.host}/x", credential: httpBasicAuth, credential_hint: x }',
    ],
    [
      'an expression',
      'fetch: { url: "https://a.example/{{ $env.X }}/{body.id}", credential: httpBasicAuth, credential_hint: x }',
    ],
    ['no value', 'fetch: { url: "https://a.example/x", credential: httpBasicAuth, credential_hint: x }'],
    [
      'a pattern that is none',
      'fetch: { url: "https://a.example/{body.id}", ids: "[", credential: httpBasicAuth, credential_hint: x }',
    ],
    [
      'a pattern that Postgres reads otherwise',
      'fetch: { url: "https://a.example/{body.id}", ids: "(?=x).*", credential: httpBasicAuth, credential_hint: x }',
    ],
    [
      'both',
      'items: body.*\nfetch: { url: "https://a.example/{body.id}", credential: httpBasicAuth, credential_hint: x }',
    ],
  ])('are refused with %s', (_, more) => {
    expect(() => provider(more)).toThrow(UserError);
  });
});

describe('a fresh sample', () => {
  it('makes every event of a request a new one', () => {
    const ids = (nonce: string): unknown[] =>
      json(freshSample(several, undefined, nonce).body).events.map(({ id }: { id: unknown }) => id);
    expect(new Set([...ids('a'), ...ids('b')]).size).toBe(4);
    expect(ids('a')).toEqual(ids('a'));
    expect(several.samples['contact.changed']?.body).toMatchObject({ events: [{ id: 101 }, { id: 102 }] });
  });

  it('changes the object, and sends the delivery as it is', () => {
    const { body, fetched } = freshSample(changes, undefined, 'n');
    expect(Buffer.from(body).toString()).toBe('id=tr_1');
    expect(json(fetched)).toMatchObject({ id: 'tr_1_n', status: 'paid' });
  });
});
