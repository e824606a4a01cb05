import { describe, expect, test } from 'vitest';
import { Bug } from '../../../src/errors.ts';
import { checkStatement, readStatements } from '../../../src/generate/statements.ts';

describe('the SQL of the nodes', () => {
  test('of the templates passes', () => {
    expect(Object.keys(readStatements()).sort()).toEqual([
      'claim',
      'claim-delivery',
      'claim-items',
      'claim-object',
      'claim-replay',
      'claim-replay-delivery',
      'mark-failed',
      'mark-success',
    ]);
  });

  test('may hold comments, casts and array operators', () => {
    const sql = "-- takes it; {once}\nSELECT finish($1::text, $2::text) -> 'a' #>> '{b}'\n";
    expect(checkStatement('mark-success', sql)).toBe(sql.trimEnd());
  });

  test('may insert before the statement that gives its row', () => {
    const sql = '-- one; two\nINSERT INTO t VALUES ($1);\n\nSELECT f($2)';
    expect(checkStatement('mark-success', sql)).toBe(sql);
  });

  test.each([
    ['an expression', "SELECT f($1, $2), '{{ $json.id }}'"],
    ['a dollar quote', 'SELECT f($1, $2), $$x$$'],
    ['a named dollar quote', 'SELECT f($1, $2), $q$x$q$'],
    ['a parameter in a comment', 'SELECT f($1, $2) -- $1 is the key'],
    ['a parameter in a block comment', 'SELECT f($1, $2) /* $1 */'],
    ['what n8n takes for a filter', 'SELECT f($1, $2) WHERE $1:name'],
    ['an operator that n8n takes for a filter', "SELECT f($1, $2) WHERE $1~'x'"],
    ['a statement before the last one that gives rows', 'SELECT 1; SELECT f($1, $2)'],
    ['the same by RETURNING', 'INSERT INTO t VALUES ($1) RETURNING id; SELECT f($2)'],
    ['a parameter too few', 'SELECT f($1)'],
    ['a parameter too many', 'SELECT f($1, $2, $3)'],
    ['a gap', 'SELECT f($1, $3)'],
  ])('may not hold %s', (_name, sql) => {
    expect(() => checkStatement('mark-success', sql)).toThrow(Bug);
  });
});
