import { expect, test } from 'vitest';
import { checkExpectation, disappointment, hintsFor } from '../../../src/cli/send/hints.ts';
import { explainAnswer } from '../../../src/cli/send/http.ts';
import type { Sent } from '../../../src/cli/send/rounds.ts';
import { UserError } from '../../../src/errors.ts';

const of = (...outcomes: (string | null)[]): Sent[] =>
  outcomes.map((outcome) => ({
    ...{ outcome, ms: 1, answer: '', reason: null, status: outcome === 'rejected' ? 401 : 200 },
  }));

test('an expectation is made of outcomes', () => {
  checkExpectation(['new', 'duplicate', 'rejected', 'unavailable']);
  for (const word of ['dupe', 'New', '', 'toString']) {
    expect(() => checkExpectation(['new', word])).toThrow(UserError);
  }
});

test('what came stands beside what was expected, one by one as long as that can be read', () => {
  expect(disappointment(of('new', 'duplicate'), ['new', 'new'])).toBe(
    'Expected new, new; got new, duplicate.',
  );
  const many = disappointment(of('new', ...Array(99).fill('duplicate')), ['new']);
  expect(many).toContain('99 duplicate');
  expect(many.length).toBeLessThan(60);
});

test('a hint comes only where it helps', async () => {
  const hints = (sent: Sent[], more: { tampered?: boolean; toLedger?: boolean; expect?: string[] }) =>
    hintsFor(sent, { devFolder: '/nowhere/.oncehook' }, { tampered: false, toLedger: false, ...more });
  expect(await hints(of('rejected'), { tampered: true })).toHaveLength(1);
  expect(await hints(of('rejected'), { tampered: true, expect: ['rejected'] })).toEqual([]);
  expect(await hints(of('rejected'), {})).toEqual([]);
  expect(await hints(of('new', 'duplicate'), { tampered: true })).toEqual([]);
  const down: Sent[] = [{ status: 503, outcome: 'unavailable', answer: '', reason: null, ms: 1 }];
  expect(await hints(down, {})).toHaveLength(1);
  expect(await hints(down, { toLedger: true })).toEqual([]);
});

test.each([
  ['no JSON', 'Service Unavailable', null],
  ['JSON that is no object', 'null', null],
  ['an error that is no text', '{"error":{"a":1}}', null],
  ['no more than the outcome', '{"error":"unavailable"}', null],
  ['a reason', '{"ok":false,"error":"no secret"}', 'no secret'],
])('the reason in the body of an answer: %s', (_, answer, reason) => {
  expect(explainAnswer({ status: 503, outcome: 'unavailable', answer }, false)).toBe(reason);
});
