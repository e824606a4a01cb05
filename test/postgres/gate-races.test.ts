import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { type Crowd, expectOneLiveClaim, gather, meanwhile, tally } from './harness/gate-crowd.ts';
import { type Answer, deliver, fail, finish, replay } from './harness/gate-statements.ts';

let gate: Gate;
let crowd: Crowd;
let opener: pg.Client;
let made = 0;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('r', { signature: { scheme: 'none' }, maxAttempts: 1000 }, []);
  crowd = await gather(gate, 64);
  opener = await gate.database.n8n();
});
afterAll(() => gate.database.drop());

const send = (client: pg.Client, id: string, execution = '1', extra = ''): Promise<Answer> =>
  deliver(client, { source: 'r', body: `{"id":"${id}"${extra}}`, execution });
const fresh = (): string => {
  made += 1;
  return `e${made}`;
};
const lapse = (id: string) =>
  gate.owner.query(
    "UPDATE oncehook.webhook_events SET locked_until = now() - interval '1 s' WHERE idempotency_key = $1 AND locked_until < 'infinity'",
    [`r:${id}`],
  );

/** An event in the state from which the race starts. */
async function event(state: 'failed' | 'lapsed'): Promise<{ id: string; first: Answer }> {
  const id = fresh();
  const first = await send(gate.n8n, id, id);
  if (state === 'failed') await fail(gate.n8n, 'r', { execution: id });
  else await lapse(id);
  return { id, first };
}

test('64 clients on one key, 20 times: one new, 63 duplicates, all of them in the audit', async () => {
  for (let round = 0; round < 20; round++) {
    const id = fresh();
    const rows = await crowd.all(64, (client, n) => send(client, id, `${n}`));
    expect(tally(rows)).toEqual({ new: 1, duplicate: 63 });
    expect(
      await gate.row(
        'SELECT deliveries::int, attempts FROM oncehook.webhook_ledger WHERE idempotency_key = $1',
        [`r:${id}`],
      ),
    ).toEqual({ deliveries: 64, attempts: 1 });
    expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(1);
  }
});

test('64 clients, 64 bodies of one key: the first one is kept, the others are mismatches', async () => {
  const id = fresh();
  const rows = await crowd.all(64, (client, n) => send(client, id, `${n}`, `,"n":${n}`));
  expect(tally(rows)).toEqual({ new: 1, mismatch: 63 });
  const winner = rows.find(({ outcome }) => outcome === 'new');
  expect((await gate.event(`r:${id}`))['payload']).toEqual(winner?.body);
});

describe('while the inserter is open', () => {
  test('and commits: duplicates', async () => {
    const id = fresh();
    const [first, late] = await meanwhile(
      gate,
      { opener, end: 'COMMIT', waiting: 8 },
      (client) => send(client, id),
      () => crowd.all(8, (client) => send(client, id)),
    );
    expect(first.outcome).toBe('new');
    expect(tally(late)).toEqual({ duplicate: 8 });
    for (const row of late) expect(row).toMatchObject({ event_id: first.event_id, status: 'processing' });
  });

  test('and rolls back: one of the others is new', async () => {
    const id = fresh();
    const [, late] = await meanwhile(
      gate,
      { opener, end: 'ROLLBACK', waiting: 8 },
      (client) => send(client, id),
      () => crowd.all(8, (client) => send(client, id)),
    );
    expect(tally(late)).toEqual({ new: 1, duplicate: 7 });
    await expectOneLiveClaim(
      gate,
      `r:${id}`,
      late.filter(({ claim }) => claim),
    );
  });
});

describe.each(['failed', 'lapsed'] as const)('an event that is %s', (state) => {
  test('16 takers, 20 times: one reclaims it', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, first } = await event(state);
      const rows = await crowd.all(16, (client, n) => send(client, id, `${n}`));
      expect(tally(rows)).toEqual({ reclaimed: 1, duplicate: 15 });
      await expectOneLiveClaim(gate, `r:${id}`, [first, ...rows.filter(({ claim }) => claim)]);
    }
  });

  test.each(['COMMIT', 'ROLLBACK'] as const)('a takeover is open, then %s', async (end) => {
    const { id, first } = await event(state);
    const [open, late] = await meanwhile(
      gate,
      { opener, end, waiting: 8 },
      (client) => send(client, id, 'open', ',"open":1'),
      () => crowd.all(8, (client, n) => (n % 2 ? send(client, id) : replay(client, 'r', first.event_id))),
    );
    expect(open).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
    const takers = late.filter(({ claim }) => claim);
    expect(takers).toHaveLength(end === 'COMMIT' ? 0 : 1);
    await expectOneLiveClaim(gate, `r:${id}`, [first, ...(end === 'COMMIT' ? [open] : takers)]);
    const { payload } = await gate.event(`r:${id}`);
    expect(payload).toEqual(end === 'COMMIT' ? open.body : { id });
  });

  test('8 redeliveries, 8 others with another body, 8 replays, 20 times: one takes it each time', async () => {
    const { id, first } = await event(state);
    const claims = [first];
    for (let round = 0; round < 20; round++) {
      const stale = claims.at(-1) ?? first;
      const rows = await crowd.all(24, (client, n) =>
        n < 8
          ? send(client, id, `${n}`)
          : n < 16
            ? send(client, id, `${n}`, `,"round":${round}`)
            : replay(client, 'r', first.event_id, { execution: `${n}` }),
      );
      const taken = rows.filter(({ claim }) => claim);
      expect(taken).toMatchObject([{ outcome: 'reclaimed', attempts: claims.length + 1 }]);
      claims.push(...taken);
      await expectOneLiveClaim(gate, `r:${id}`, claims);
      expect(await finish(gate.n8n, stale)).toMatchObject({ status: 'overtaken' });
      if (state === 'lapsed') await lapse(id);
      else
        expect(
          (await fail(gate.n8n, 'r', { execution: (await gate.event(`r:${id}`))['execution_id'] as string }))
            .status,
        ).toBe('failed');
    }
  });
});

describe('finish against takeover', () => {
  const takers = [
    ['a delivery', (client: pg.Client, id: string) => send(client, id)],
    ['a replay', (client: pg.Client, _id: string, eventId: string | null) => replay(client, 'r', eventId)],
  ] as const;
  test.each(takers)('%s waits for the run to finish: it is too late', async (_name, take) => {
    const { id, first } = await event('lapsed');
    const taker = crowd.clients[0] as pg.Client;
    const [finished, late] = await meanwhile(
      gate,
      { opener, end: 'COMMIT' },
      (client) => finish(client, first),
      () => take(taker, id, first.event_id),
    );
    expect(finished.status).toBe('success');
    expect(late).toMatchObject({ outcome: 'duplicate', status: 'success', claim: null });
    expect(await gate.event(`r:${id}`)).toMatchObject({ status: 'success', attempts: 1, overruns: 0 });
  });

  test.each(takers)('%s waits for a run whose finishing is rolled back: it takes', async (_name, take) => {
    const { id, first } = await event('lapsed');
    const taker = crowd.clients[0] as pg.Client;
    const [, late] = await meanwhile(
      gate,
      { opener, end: 'ROLLBACK' },
      (client) => finish(client, first),
      () => take(taker, id, first.event_id),
    );
    expect(late).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
    await expectOneLiveClaim(gate, `r:${id}`, [first, late]);
  });

  test.each(takers)('the run waits for %s to take: it was overtaken', async (_name, take) => {
    const { id, first } = await event('lapsed');
    const [taken, late] = await meanwhile(
      gate,
      { opener, end: 'COMMIT' },
      (client) => take(client, id, first.event_id),
      () => finish(gate.n8n, first),
    );
    expect(late.status).toBe('overtaken');
    expect(await gate.event(`r:${id}`)).toMatchObject({ status: 'processing', overruns: 1 });
    expect((await finish(gate.n8n, taken)).status).toBe('success');
  });

  test.each(takers)('the run waits for %s that is rolled back: it finishes', async (_name, take) => {
    const { id, first } = await event('lapsed');
    const [, late] = await meanwhile(
      gate,
      { opener, end: 'ROLLBACK' },
      (client) => take(client, id, first.event_id),
      () => finish(gate.n8n, first),
    );
    expect(late.status).toBe('success');
    expect(await gate.event(`r:${id}`)).toMatchObject({ status: 'success', attempts: 1 });
  });

  test('a failure that waits for a takeover does not touch it; a takeover takes what has just failed', async () => {
    const one = await event('lapsed');
    const [, failed] = await meanwhile(
      gate,
      { opener, end: 'COMMIT' },
      (client) => send(client, one.id, 'taker'),
      () => fail(gate.n8n, 'r', { execution: one.id }),
    );
    expect(failed.status).toBe('unknown');
    expect(await gate.event(`r:${one.id}`)).toMatchObject({ status: 'processing', execution_id: 'taker' });
    const two = await event('lapsed');
    const [, taken] = await meanwhile(
      gate,
      { opener, end: 'COMMIT' },
      (client) => fail(client, 'r', { execution: two.id }),
      () => send(gate.n8n, two.id, 'taker'),
    );
    expect(taken).toMatchObject({ outcome: 'reclaimed', attempts: 2 });
    expect(await gate.event(`r:${two.id}`)).toMatchObject({ status: 'processing' });
  });

  test('all at once, 20 times: finished or taken, never both', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, first } = await event('lapsed');
      const ends: string[] = [];
      const rows = await crowd.all(16, async (client, n) => {
        if (n % 4 !== 0) return n % 4 === 1 ? replay(client, 'r', first.event_id) : send(client, id);
        ends.push((await finish(client, first)).status);
        return undefined;
      });
      const taken = rows.filter((row) => row?.claim);
      expect(new Set(ends)).toEqual(new Set([taken.length === 1 ? 'overtaken' : 'success']));
      expect(taken.length).toBeLessThan(2);
      expect(await gate.event(`r:${id}`)).toMatchObject(
        taken.length
          ? { status: 'processing', attempts: 2, overruns: 4 }
          : { status: 'success', attempts: 1, overruns: 0 },
      );
    }
  });
});
