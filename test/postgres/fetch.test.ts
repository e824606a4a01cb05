import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gate, openGate } from './harness/gate.ts';
import {
  claimObject,
  type DeliveryAnswer,
  deliverNews,
  FETCH,
  replayDelivery,
} from './harness/gate-batches.ts';
import { gather, tally } from './harness/gate-crowd.ts';
import { fail, finish, sqlState } from './harness/gate-statements.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
  await gate.addSource('pay', { ...FETCH, maxAttempts: 3 }, []);
  await gate.addSource('signed', { key: '{body.id}', rules: FETCH.rules ?? null });
});
afterAll(() => gate.database.drop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const news = (id: string, execution = '1'): Promise<DeliveryAnswer> =>
  deliverNews(gate.n8n, { source: 'pay', body: `id=${id}`, headers: form, execution });
const delivered = (row: { key: string | null }) => gate.event(row.key ?? '');

describe('a delivery that tells of an object', () => {
  test('is stored as it came, under a key of its own, with what its object is fetched by', async () => {
    const [one, two] = [await news('tr_1'), await news('tr_1')];
    for (const row of [one, two]) {
      expect(row).toMatchObject({
        outcome: 'new',
        code: 200,
        fetch_by: ['tr_1'],
        type: 'delivery',
        body: { id: 'tr_1' },
      });
      expect(row.key).toMatch(/^delivery\/pay:[0-9a-f-]{36}$/);
      expect(String((await delivered(row))['body'])).toBe('id=tr_1');
    }
    expect(one.key).not.toBe(two.key);
    expect(
      (await deliverNews(gate.n8n, { source: 'pay', body: 'id=tr_1', headers: form, mode: 'test' })).key,
    ).toMatch(/^test\/delivery\/pay:/);
  });

  test.each(['tr_1/refunds', '../x', 'tr_1\n', '..', 'x'.repeat(21), '', 'tr_1?x=1'])(
    'is fetched by no id that is none: %j',
    async (id) => {
      const row = await deliverNews(gate.n8n, { source: 'pay', body: JSON.stringify({ id }) });
      expect(row).toMatchObject({ outcome: 'unkeyed', code: 200, fetch_by: null, claim: null });
    },
  );

  test('is refused where it is forged, and the sender must retry where the gate is not set up', async () => {
    const body = '{"id":"tr_2"}';
    expect(await deliverNews(gate.n8n, { source: 'signed', body })).toMatchObject({
      outcome: 'rejected',
      code: 401,
    });
    expect(
      await deliverNews(gate.n8n, { source: 'signed', body, headers: gate.sign('signed', body) }),
    ).toMatchObject({ outcome: 'new', fetch_by: ['tr_2'] });
    for (const delivery of [{ source: 'nobody' }, { source: 'pay', recipe: '{' }])
      expect(await deliverNews(gate.n8n, { body, ...delivery })).toMatchObject({
        outcome: 'unavailable',
        code: 503,
      });
    await gate.addSource('plain', { signature: { scheme: 'none' } }, []);
    expect(await deliverNews(gate.n8n, { source: 'plain', body })).toMatchObject({ outcome: 'unavailable' });
  });

  test('whatever comes: one row, no error', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.json({ noUnicodeString: false }).map((json) => Buffer.from(json)),
      fc.string({ unit: 'binary' }).map((id) => Buffer.from(JSON.stringify({ id }))),
      fc.string({ unit: 'binary' }).map((id) => Buffer.from(`id=${id}`)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (body, isForm) => {
        const row = await deliverNews(gate.n8n, { source: 'pay', body, headers: isForm ? form : {} });
        expect(['new', 'unkeyed']).toContain(row.outcome);
        for (const id of row.fetch_by ?? []) expect(id).toMatch(/^[A-Za-z0-9_]{1,20}$/);
      }),
      {
        numRuns: 150,
        examples: [
          [Buffer.from('{"id":"\\u0000"}'), false],
          [Buffer.from('{"id":1e400000}'), false],
        ],
      },
    );
  });
});

describe('the object', () => {
  test('is claimed under its own key, with its exact bytes, and the delivery is done', async () => {
    const told = await news('tr_3');
    const bytes = '{"id":"tr_3","status":"paid", "amount":1.0}';
    const row = await claimObject(gate.n8n, 'pay', told, bytes);
    expect(row).toMatchObject({ outcome: 'new', key: 'pay:tr_3:paid', type: 'paid', body: { amount: 1 } });
    expect(String((await gate.event('pay:tr_3:paid'))['body'])).toBe(bytes);
    expect(await delivered(told)).toMatchObject({ status: 'success', next_attempt_at: null });
    expect(await finish(gate.n8n, row)).toMatchObject({ status: 'success' });
  });

  test('is claimed once, however many deliveries tell of one change, and again when it changed', async () => {
    const told = [];
    for (let n = 0; n < 3; n += 1) told.push(await news('tr_4'));
    const rows = [];
    for (const one of told)
      rows.push(await claimObject(gate.n8n, 'pay', one, { id: 'tr_4', status: 'paid' }));
    expect(rows.map(({ outcome }) => outcome)).toEqual(['new', 'duplicate', 'duplicate']);
    for (const one of told) expect(await delivered(one)).toMatchObject({ status: 'success' });
    const refunded = await claimObject(gate.n8n, 'pay', await news('tr_4'), {
      id: 'tr_4',
      status: 'refunded',
    });
    expect(refunded).toMatchObject({ outcome: 'new', key: 'pay:tr_4:refunded' });
  });

  test('at the same moment: one effect', async () => {
    const crowd = await gather(gate, 16);
    const told: DeliveryAnswer[] = [];
    for (let n = 0; n < 16; n += 1) told.push(await news('tr_5', `at${n}`));
    const rows = await crowd.all(16, (client, n) =>
      claimObject(
        client,
        'pay',
        told[n] as DeliveryAnswer,
        { id: 'tr_5', status: 'paid' },
        { execution: `at${n}` },
      ),
    );
    expect(tally(rows)).toEqual({ new: 1, duplicate: 15 });
  });

  test('without a key is a dead letter, and its delivery is done', async () => {
    for (const fetched of [{ other: 1 }, 'no JSON', '']) {
      const told = await news('tr_6');
      expect(await claimObject(gate.n8n, 'pay', told, fetched)).toMatchObject({ outcome: 'unkeyed' });
      expect(await delivered(told)).toMatchObject({ status: 'success' });
    }
  });

  test('that did not come leaves the delivery as it is', async () => {
    const told = await news('tr_7');
    expect(await claimObject(gate.n8n, 'pay', told, null)).toMatchObject({ outcome: 'unavailable' });
    expect(await delivered(told)).toMatchObject({ status: 'processing' });
  });

  test('is claimed by nobody who does not hold its delivery', async () => {
    const told = await news('tr_8', 'lost');
    const object = { id: 'tr_8', status: 'paid' };
    expect(await claimObject(gate.n8n, 'pay', { ...told, claim: 'guessed' }, object)).toMatchObject({
      outcome: 'unavailable',
    });
    expect(await claimObject(gate.n8n, 'signed', told, object)).toMatchObject({ outcome: 'unavailable' });
    await fail(gate.n8n, 'pay', { execution: 'lost' });
    expect(await claimObject(gate.n8n, 'pay', told, object)).toMatchObject({ outcome: 'unavailable' });
    expect(await gate.event('pay:tr_8:paid')).toBeUndefined();
  });
});

describe('a fetch that fails', () => {
  test('leaves the delivery due, and whoever takes it fetches again', async () => {
    const told = await news('tr_9', 'down');
    expect(await fail(gate.n8n, 'pay', { execution: 'down', lastNode: 'Fetch object' })).toMatchObject({
      status: 'failed',
    });
    const due = await delivered(told);
    expect(due).toMatchObject({ status: 'failed' });
    expect(due['next_attempt_at']).not.toBeNull();
    const again = await replayDelivery(gate.n8n, 'pay', told.event_id, { execution: 'again' });
    expect(again).toMatchObject({ outcome: 'reclaimed', fetch_by: ['tr_9'], key: told.key });
    const row = await claimObject(
      gate.n8n,
      'pay',
      again,
      { id: 'tr_9', status: 'paid' },
      { execution: 'again' },
    );
    expect(row).toMatchObject({ outcome: 'new' });
    expect(await replayDelivery(gate.n8n, 'pay', told.event_id)).toMatchObject({
      outcome: 'duplicate',
      fetch_by: null,
    });
    // Its work failed: now it is the event that is due, and nothing is fetched for it.
    await fail(gate.n8n, 'pay', { execution: 'again' });
    expect(await replayDelivery(gate.n8n, 'pay', row.event_id)).toMatchObject({
      ...{ outcome: 'reclaimed', fetch_by: null, key: 'pay:tr_9:paid' },
    });
  });

  test('is given up after the last attempt', async () => {
    let told = await news('tr_10', 'g1');
    for (const execution of ['g1', 'g2', 'g3']) {
      await fail(gate.n8n, 'pay', { execution });
      if (execution !== 'g3')
        told = await replayDelivery(gate.n8n, 'pay', told.event_id, {
          execution: execution === 'g1' ? 'g2' : 'g3',
        });
    }
    expect(await delivered(told)).toMatchObject({ status: 'dead' });
  });

  test('whose source has another rule by now fails instead of fetching something else', async () => {
    await gate.addSource('moved', FETCH, []);
    const told = await deliverNews(gate.n8n, { source: 'moved', body: '{"id":"tr_11"}', execution: 'm' });
    await fail(gate.n8n, 'moved', { execution: 'm' });
    await gate.addSource(
      'moved',
      { ...FETCH, rules: { fetch: { values: ['{body.other}'], ids: '.+' } } },
      [],
    );
    expect(await replayDelivery(gate.n8n, 'moved', told.event_id, { execution: 'm2' })).toMatchObject({
      ...{ outcome: 'unavailable', fetch_by: null, claim: null },
    });
    expect(await delivered(told)).toMatchObject({ status: 'failed' });
  });
});

test("n8n's role can do no more with these functions than with the others", async () => {
  const told = await news('tr_12');
  const made = `SELECT set_config('oncehook.fetched', '{"key":"${told.key}","claim":"guessed"}', true); SELECT * FROM oncehook.report_fetched()`;
  await gate.n8n.query(made);
  expect(await delivered(told)).toMatchObject({ status: 'processing' });
  for (const call of [
    'oncehook.open_request(NULL, NULL, NULL, NULL, NULL)',
    "oncehook.item_bodies('{}', '[]')",
    "oncehook.fetch_values('{}', '{}', '{}', NULL)",
  ])
    expect(await sqlState(gate.n8n, `SELECT ${call}`)).toBe('42501');
  expect(await sqlState(gate.n8n, 'SELECT body FROM oncehook.webhook_events')).toBe('42501');
});
