import { describe, expect, it } from 'vitest';
import { sortedJson } from '../../../src/providers/signing/nested.ts';

const form = (fields: [string, string][]) => sortedJson({ kind: 'form', fields });

describe('a nested form as JSON', () => {
  it.each<[string, [string, string][], string]>([
    [
      'sorts names at every depth',
      [
        ['b', '1'],
        ['a[y]', '2'],
        ['a[x]', '3'],
      ],
      '{"a":{"x":"3","y":"2"},"b":"1"}',
    ],
    [
      'makes lists of what is numbered from 0',
      [
        ['p[1][n]', 'b'],
        ['p[0][n]', 'a'],
      ],
      '{"p":[{"n":"a"},{"n":"b"}]}',
    ],
    [
      'and objects of what begins elsewhere',
      [
        ['p[1]', 'b'],
        ['p[2]', 'a'],
      ],
      '{"p":{"1":"b","2":"a"}}',
    ],
    [
      'sorts numbers as numbers',
      [
        ['p[10]', 'c'],
        ['p[9]', 'b'],
        ['p[2]', 'a'],
      ],
      '{"p":{"2":"a","9":"b","10":"c"}}',
    ],
    [
      'and names with a zero in front as names',
      [
        ['p[01]', 'b'],
        ['p[1]', 'a'],
        ['p[0]', 'c'],
      ],
      '{"p":{"0":"c","01":"b","1":"a"}}',
    ],
    ['escapes as PHP does', [['a', 'é/"\\\n\u2028\u0001']], '{"a":"é\\/\\"\\\\\\n\\u2028\\u0001"}'],
    [
      'takes the last of equal names',
      [
        ['a', '1'],
        ['a', '2'],
      ],
      '{"a":"2"}',
    ],
    ['of nothing is an empty list', [], '[]'],
  ])('%s', (_name, fields, json) => {
    expect(form(fields)).toBe(json);
  });

  it.each(['a[', 'a]', 'a[]', '[a]', 'a[b]c', 'a[b][', ''])('refuses the name %s', (name) => {
    expect(() => form([[name, '1']])).toThrow(/nest/);
  });

  it('refuses a name that is a text and more, and a body that is no form', () => {
    expect(() =>
      form([
        ['a', '1'],
        ['a[b]', '2'],
      ]),
    ).toThrow(/text and/);
    expect(() =>
      form([
        ['a[b]', '2'],
        ['a', '1'],
      ]),
    ).toThrow(/text and/);
    expect(() => sortedJson({ kind: 'json', root: {} })).toThrow(/form/);
  });
});
