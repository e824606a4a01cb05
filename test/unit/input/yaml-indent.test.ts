import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/input/yaml.ts';
import { issuesOf } from '../config/issues.ts';

const issues = (lines: string[]) => issuesOf(() => parseYaml(`${lines.join('\n')}\n`, 'c.yaml'));

describe('a line in the wrong column is one issue, with both columns', () => {
  it.each<[string, string[], [line: number, columns: number[]][]]>([
    ['the first of a source', ['s:', '  shop:', '   provider: x', '    path: y', '    id: z'], [[3, [3, 4]]]],
    ['a deeper one below it', ['s:', '  shop:', '    provider: x', '     path: y'], [[3, [4, 5]]]],
    ['a flatter one below it', ['s:', '  shop:', '    provider: x', '   path: y'], [[4, [3, 4]]]],
    ['one in the middle', ['s:', '  shop:', '    a: x', '', '   b: y', '    c: z'], [[5, [3, 4]]]],
    ['one at the top', ['project: x', '  sources:', '   y: 1'], [[1, [0, 2]]]],
    [
      'one in each of two sources',
      ['s:', '  a:', '   b: x', '    c: y', '  d:', '    e: x', '   f: y'],
      [
        [3, [3, 4]],
        [7, [3, 4]],
      ],
    ],
  ])('%s', (_case, lines, expected) => {
    const found = issues(lines);
    expect(found.map(({ line }) => line)).toEqual(expected.map(([line]) => line));
    for (const [index, [, columns]] of expected.entries()) {
      const numbers = found[index]?.message.match(/\d+/g)?.map(Number);
      expect(numbers).toEqual(columns);
    }
  });
});

describe('a tab that indents is the only issue of its line', () => {
  it.each<[string, string[], number[]]>([
    ['two of them', ['s:', '  shop:', '    provider: x', '\tpath: y: z', '\tid: z'], [4, 5]],
    ['behind blanks', ['s:', '  shop:', '    provider: x', '   \tid: z'], [4]],
    ['in block text', ['s:', '  key: |', '\t{body.a}'], [3]],
    ['in a list', ['s:', '  shop:', '  - a', '\t- b'], [4]],
  ])('%s', (_case, lines, expected) => {
    expect(issues(lines).map((issue) => [issue.line, issue.expected])).toEqual(
      expected.map((line) => [line, 'spaces']),
    );
  });

  it('and one further on is not taken for it', () => {
    expect(issues(['a: x: \ty: z']).map(({ expected }) => expected)).toEqual([undefined]);
  });
});

describe('block text that is not indented deeper than its key is one issue, which names the key', () => {
  it.each([
    ['of placeholders', ['    {body.a}', '    {body.b}:{body.c}']],
    ['with a word', ['    order-{body.id}']],
    ['further out', ['  {body.a}']],
    ['below a blank line', ['', '    {body.a}']],
  ])('%s', (_case, text) => {
    const found = issues(['s:', '  shop:', '    key: |', ...text, '    type: x']);
    expect(found.map(({ line }) => line)).toEqual([text[0] === '' ? 5 : 4]);
    expect(found[0]?.remedy).toContain('`key:`');
  });

  it('but a setting after an empty block is judged for itself', () => {
    const found = issues(['s:', '  key: |', '  type: a: b']);
    expect(found.map(({ line }) => line)).toEqual([3]);
    expect(found[0]?.remedy).not.toContain('`key:`');
  });
});

it('a value that holds a colon is not taken for a wrong column', () => {
  const [found, ...more] = issues(['project: a: b', 'sources: {}']);
  expect([found?.line, more]).toEqual([1, []]);
  expect(found?.message).not.toMatch(/\d/);
});
