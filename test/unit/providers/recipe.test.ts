import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRecipe, printRecipe, type RecipePart } from '../../../src/providers/recipe.ts';

const step = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_$-]{1,8}$/),
  fc.stringMatching(/^[ !#-~é{}]{1,8}$/),
  fc.nat(20).map(String),
);
const placeholder: fc.Arbitrary<RecipePart> = fc.oneof(
  fc.record({ kind: fc.constant('body' as const), path: fc.array(step, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('header' as const), name: fc.stringMatching(/^[a-z0-9-]{1,12}$/) }),
  fc.record({ kind: fc.constant('query' as const), name: step }),
  fc.constant({ kind: 'body_sha256' as const }),
);
const text = (pattern: RegExp) =>
  fc.stringMatching(pattern).map((value): RecipePart => ({ kind: 'text', text: value }));

/** Placeholders with a colon between any two (no backslash before it), and perhaps text around them. */
const alternative = fc
  .tuple(
    fc.option(text(/^[!-z][ -z]{0,6}$/), { nil: undefined }),
    fc.array(fc.tuple(placeholder, text(/^[ -[\]-z]{0,3}:[ -z]{0,3}$/)), { maxLength: 3 }),
    placeholder,
    fc.option(text(/^[ -z]{0,6}[!-z]$/), { nil: undefined }),
  )
  .map(([before, pairs, last, after]) =>
    [before, ...pairs.flat(), last, after].filter((part) => part !== undefined),
  );

describe('a recipe', () => {
  it('is the same after printing and reading it again', () => {
    fc.assert(
      fc.property(fc.array(alternative, { minLength: 1, maxLength: 4 }), (recipe) => {
        expect(parseRecipe(printRecipe(recipe))).toEqual({ recipe, issues: [] });
      }),
    );
  });

  it('never throws, and places every issue inside the text', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '{body.',
      '{header.',
      '{body_sha256}',
      '"',
      '.',
      ':',
      'a',
      ' ',
      '\n',
      '\r\n',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const lines = pieces.join('').split('\n');
        for (const { line, column } of parseRecipe(lines.join('\n')).issues) {
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? -1) + 1);
        }
      }),
    );
  });

  it('does not count a colon that a backslash makes look like part of a value', () => {
    for (const between of ['\\:', 'a\\:', '\\\\\\:']) {
      expect(parseRecipe(`{body.a}${between}{body.b}`).issues).toHaveLength(1);
    }
    expect(parseRecipe('{body.a}\\\\:{body.b}').issues).toHaveLength(0);
  });

  it('reads lines as alternatives, blanks around them left out, and headers in any case', () => {
    expect(parseRecipe('\n  {header.X-Event-ID}\r\n\n\t{body.a."b.c".0}:{query."data.id"} \n')).toEqual({
      recipe: [
        [{ kind: 'header', name: 'x-event-id' }],
        [
          { kind: 'body', path: ['a', 'b.c', '0'] },
          { kind: 'text', text: ':' },
          { kind: 'query', name: 'data.id' },
        ],
      ],
      issues: [],
    });
  });

  it.each([
    ['nothing', '', 1, 1],
    ['blank lines alone', ' \n\n', 1, 1],
    ['no placeholder', '{body.id}\norder', 2, 1],
    ['no colon between two placeholders', '{body.a}-{body.b}', 1, 10],
    ['two placeholders side by side', '  {body.a}{body.b}', 1, 11],
    ['an unknown placeholder', 'x{bdy.id}', 1, 2],
    ['a body without a path', '{body}', 1, 1],
    ['an empty step', '{body.a..b}', 1, 9],
    ['a placeholder that does not end', '{body.a', 1, 8],
    ['a quoted step that does not end', '{body."a}', 1, 7],
    ['a lone closing brace', '{body.a}}', 1, 9],
    ['a header with steps', '{header.a.b}', 1, 1],
    ['a control character', '{body.a}:\u0000', 1, 10],
    ['a blank in a bare step', '{body.a b}', 1, 8],
  ])('is refused for %s', (_case, source, line, column) => {
    expect(parseRecipe(source).issues).toEqual([expect.objectContaining({ line, column })]);
  });

  it('tells every malformed line', () => {
    expect(parseRecipe('{a}\n{body.id}\n{b}').issues.map(({ line }) => line)).toEqual([1, 3]);
  });
});
