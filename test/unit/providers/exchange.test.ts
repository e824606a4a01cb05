import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { compileExchange, compileOne } from '../../../src/providers/compile-exchange.ts';
import { parseProvider } from '../../../src/providers/load.ts';
import { compileRules } from '../../../src/providers/rules.ts';
import { exchangeCatalogue, rawFile } from '../../fixtures/exchange.ts';
import { issuesOf } from '../config/issues.ts';

const greeter = exchangeCatalogue.load('greeter');
const parse = (slug: string, change: object) =>
  parseProvider('own', stringify({ ...rawFile(slug), ...change }), 'own.yaml');
const pathsOf = (slug: string, change: object) => issuesOf(() => parse(slug, change)).map(({ path }) => path);

it('compiles places to steps, what stands there to text, and answers to parts', () => {
  const [challenge, validation, subscribe, ping, nothing] =
    compileExchange(greeter, undefined).handshakes ?? [];
  expect(challenge).toEqual({
    name: 'challenge',
    method: 'POST',
    when: [
      { from: 'body', path: ['type'], is: 'value', value: 'challenge' },
      { from: 'body', path: ['challenge'], is: 'present' },
    ],
    check: 'signature',
    answer: {
      content_type: 'text/plain; charset=utf-8',
      json: false,
      parts: [{ from: 'body', path: ['challenge'] }],
    },
  });
  expect(validation?.answer).toMatchObject({
    json: true,
    parts: ['{"plain":"', expect.anything(), '","mac":"', { as: 'hmac-sha256' }, '"}'],
  });
  expect(subscribe).toMatchObject({ method: 'GET', check: { from: 'query', path: ['hub.token'] } });
  expect(ping).toMatchObject({ exact: ['hook'], check: 'none', answer: { status: 204, body: '' } });
  expect(nothing?.when[1]).toEqual({ from: 'header', path: ['x-first'], is: 'absent' });
});

it('writes a number of a condition as text', () => {
  const provider = parse('asker', {
    questions: [{ ...greeter.handshakes[0], name: 'n', when: { 'body.type': 1 } }].map(
      ({ name, when, sample }) => ({ name, when, sample, refuse: {}, accept: {} }),
    ),
  });
  expect(compileExchange(provider, undefined).questions?.[0]?.when[0]).toMatchObject({ value: '1' });
});

it.each([
  [undefined, 'text/plain; charset=utf-8', undefined],
  ['text/html', 'text/plain; charset=utf-8', false],
  ['application/xml', 'text/plain; charset=utf-8', false],
  ['text/plain', 'text/plain', false],
  ['application/json', 'application/json', true],
  ['application/problem+json', 'application/problem+json', true],
])('lets a value stand in %s only as %s', (content_type, safe, json) => {
  const given = content_type === undefined ? {} : { content_type };
  const compiled = compileOne({ body: 'a{{b}}{body.x}', ...given });
  expect(compiled.parts).toEqual(['a{b}', { from: 'body', path: ['x'] }]);
  if (content_type !== undefined) expect(compiled).toMatchObject({ content_type: safe, json });
  expect(compileOne({ body: '{{}}', ...given })).toEqual({ body: '{}', ...given });
});

it('has no rules for a sender that needs none, and a guard as the source says', () => {
  const plain = { ...greeter, handshakes: [], answers: { new: { body: '{{}}' } } };
  expect(compileRules(plain)).toBeNull();
  expect(compileRules(plain, { guard: true })).toEqual({ guard: true });
  const on = exchangeCatalogue.load('guarded');
  expect(compileRules(on)).toEqual({ guard: true });
  expect(compileRules(on, { guard: false })).toBeNull();
  expect(compileRules({ ...on, guard: 'offered' })).toBeNull();
  expect(compileRules({ ...plain, answers: { new: { body: '{body.id}' } } })).toEqual({ repeats: true });
});

it('gives a MAC to nobody who has not shown that he knows the secret', () => {
  const mac = { body: '{body.x|hmac-sha256}' };
  const [first, ...rest] = rawFile('greeter')['handshakes'] as object[];
  for (const check of ['none', { secret_at: 'query.token' }])
    expect(pathsOf('greeter', { handshakes: [...rest, { ...first, check, answer: mac }] })).toEqual([
      `handshakes.${rest.length}.answer.body`,
    ]);
  expect(pathsOf('greeter', { answers: { rejected: mac } })).toEqual(['answers.rejected.body']);
  const [question] = rawFile('asker')['questions'] as object[];
  expect(pathsOf('asker', { questions: [{ ...question, refuse: mac }] })).toEqual([
    'questions.0.refuse.body',
  ]);
});

it('takes a guard only for ids beside the body, and answers of outcomes only for events', () => {
  expect(pathsOf('guarded', { items: 'body.*' })).toEqual(['guard']);
  expect(pathsOf('asker', { answers: { handshake: { status: 200 } } })).toHaveLength(1);
});
