import { expect, test } from 'vitest';
import { hints, statusText } from '../../../src/cli/status-text.ts';
import type { SourceStatus } from '../../../src/ledger/status.ts';

const calm: SourceStatus = {
  ...{ id: 'shop', name: 'shop', provider: 'custom', active: true, ack: 'after-claim', liveSecrets: 1 },
  ...{ events: { success: 3 }, lapsed: 0, overruns: 0, duplicates: 2, mismatches: 0, rejections: {} },
  ...{ deadLetters: 0, lastEvents: [] },
};

test('a calm source needs no word, and each trouble has its own', () => {
  expect(hints(calm)).toEqual([]);
  const troubles: Partial<SourceStatus>[] = [
    { active: false },
    { events: { failed: 2 } },
    { lapsed: 1 },
    { overruns: 1 },
    { deadLetters: 4 },
    { mismatches: 1 },
    { rejections: { 'signature wrong': 3 } },
    { rejections: { 'no secret': 3 }, liveSecrets: 0 },
  ];
  const said = troubles.map((trouble) => hints({ ...calm, ...trouble }, 900));
  expect(said.map((words) => words.length)).toEqual(troubles.map(() => 1));
  expect(new Set(said.flat()).size).toBe(troubles.length);
  expect(said[2]?.[0]).toContain('15m');
  expect(said[3]?.[0]).toContain('15m');
});

test('what a sender or a business node wrote cannot steer the terminal', () => {
  const event = {
    ...{
      id: '1',
      key: 'shop:\u001b]0;x\u0007',
      type: 'a\u202eb',
      status: 'failed',
      attempts: 1,
      deliveries: 1,
    },
    ...{ firstSeenAt: '2026-01-02T03:04:05.678901+00:00', processedAt: null, error: 'line\nline' },
  };
  const out = { json: false, result() {}, line() {}, note() {}, paint: (_: string, text: string) => text };
  const text = statusText('x', [{ ...calm, lastEvents: [event], hints: [] }], out);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).toContain('2026-01-02 03:04:05');
  expect(text).toContain('line\\u{a}line');
});
