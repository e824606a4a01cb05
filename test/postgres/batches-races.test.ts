import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import { deliverItems, eventsOf, ITEMS, type ItemAnswer } from './harness/gate-batches.ts';
import { type Crowd, expectOneLiveClaim, gather, meanwhile, tally } from './harness/gate-crowd.ts';
import { fail, finish } from './harness/gate-statements.ts';

let gate: Gate;
let crowd: Crowd;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('items', { ...ITEMS, maxAttempts: 1000 }, []);
  crowd = await gather(gate, 16);
});
afterAll(() => gate.database.drop());

const send = (client: (typeof crowd.clients)[number], ids: string[], execution = '1') =>
  deliverItems(client, { source: 'items', body: eventsOf(...ids), execution });
const liveClaims = async (rows: readonly ItemAnswer[]): Promise<void> => {
  const claims = rows.filter(({ claim }) => claim !== null);
  for (const key of new Set(claims.map((row) => row.key)))
    await expectOneLiveClaim(
      gate,
      key ?? '',
      claims.filter((row) => row.key === key),
    );
};

test('two requests with the same events in opposite orders never wait for each other', async () => {
  for (let round = 0; round < 20; round += 1) {
    const ids = Array.from({ length: 30 }, (_, n) => `cross${round}-${n}`);
    const rows = (
      await crowd.all(8, (client, index) => send(client, index % 2 ? ids : ids.toReversed()))
    ).flat();
    expect(tally(rows)).toEqual({ new: 30, duplicate: 210 });
    await liveClaims(rows);
  }
});

test('requests with the same events that have no key never wait for each other either', async () => {
  const events = Array.from({ length: 20 }, (_, n) => ({ none: n }));
  const rows = (
    await crowd.all(8, (client, index) =>
      deliverItems(client, {
        source: 'items',
        body: JSON.stringify({ events: index % 2 ? events : events.toReversed() }),
      }),
    )
  ).flat();
  expect(tally(rows)).toEqual({ unkeyed: 160 });
});

test.each([
  ['COMMIT', ['duplicate', 'new']],
  ['ROLLBACK', ['new', 'new']],
] as const)('while the inserter of one event is open, then %s', async (end, outcomes) => {
  const [opener, other] = crowd.clients;
  if (!opener || !other) throw new Error('the crowd is too small');
  const ids = [`open-${end}`, `beside-${end}`];
  const [, late] = await meanwhile(
    gate,
    { opener, end },
    (client) => send(client, ids.slice(0, 1)),
    () => send(other, ids),
  );
  expect(late.map(({ outcome }) => outcome)).toEqual(outcomes);
});

test('a failing run and redeliveries of its request never wait for each other', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `fails-${n}`);
  for (let round = 0; round < 10; round += 1) {
    const execution = `fails-${round}`;
    await gate.owner.query(
      "UPDATE oncehook.webhook_events SET locked_until = '-infinity', status = 'failed'",
    );
    await send(crowd.clients[0] as never, ids, execution);
    await gate.owner.query(
      "UPDATE oncehook.webhook_events SET locked_until = now() - interval '1 s' WHERE status = 'processing'",
    );
    const rows = await crowd.all(8, async (client, index) =>
      index === 0
        ? (await fail(client, 'items', { execution })) && []
        : send(client, index % 2 ? ids : ids.toReversed(), `r${round}-${index}`),
    );
    await liveClaims(rows.flat());
  }
});

test('any interleaving of requests with shared events, ends and failures gives each event one live claim', async () => {
  let run = 0;
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.record({
    ids: fc.array(id, { minLength: 1, maxLength: 6 }),
    end: fc.constantFrom('finish first', 'finish all', 'fail', 'vanish'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 6 }),
      async (lives) => {
        run += 1;
        const claims: ItemAnswer[] = [];
        await crowd.all(lives.length, async (client, index) => {
          for (const [turn, { ids, end }] of (lives[index] ?? []).entries()) {
            const execution = `p${run}-${index}-${turn}`;
            const rows = await send(
              client,
              ids.map((one) => `${run}-${one}`),
              execution,
            );
            expect(rows).toHaveLength(ids.length);
            const held = rows.filter(({ claim }) => claim !== null);
            expect(new Set(held.map(({ key }) => key)).size).toBe(held.length);
            claims.push(...held);
            if (end === 'finish first') await finish(client, held[0] ?? { key: null, claim: null });
            if (end === 'finish all') for (const row of held) await finish(client, row);
            if (end === 'fail') await fail(client, 'items', { execution });
          }
        });
        await liveClaims(claims);
        // Every event was claimed once at least, and none stays without a row.
        const wanted = new Set(lives.flat().flatMap(({ ids }) => ids));
        expect(new Set(claims.map(({ key }) => key)).size).toBe(wanted.size);
      },
    ),
    { numRuns: 60 },
  );
});
