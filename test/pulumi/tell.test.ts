import { expect, test } from 'vitest';
import { digest, plainErrors } from '../../infra/work/tell.ts';
import { UserError } from '../../src/errors.ts';

test('a digest depends on values, not on the order of keys nor on what is not there', () => {
  expect(digest({ a: 1, b: { c: [1, { d: 2, e: 3 }] } })).toBe(
    digest({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }),
  );
  expect(digest({ a: 1, b: null, c: undefined })).toBe(digest({ a: 1 }));
  for (const other of [{ a: 2 }, { b: 1 }, { a: [1] }, [1], { a: '1' }]) {
    expect(digest(other)).not.toBe(digest({ a: 1 }));
  }
  expect(digest([1, 2])).not.toBe(digest([2, 1]));
});

test('what the user can mend is told without a stack, and a fault of ours with it', async () => {
  const thrown = (error: unknown) =>
    plainErrors(async () => Promise.reject(error)).catch((reason: unknown) => reason as Error);
  expect((await thrown(new UserError({ message: 'No.', remedy: 'Yes.' })))?.stack).toBe('');
  const refusal = Object.assign(new Error('permission denied for table x'), { code: '42501' });
  expect((await thrown(refusal))?.message).toContain('remedy');
  const bug = new TypeError('x is not a function');
  expect(await thrown(bug)).toBe(bug);
});
