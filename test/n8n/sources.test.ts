import { beforeAll, describe, expect, test } from 'vitest';
import { outputOf } from './harness/executions.ts';
import type { Request, TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

const PAID_FROM = '185.71.76.5';

let world: World;

beforeAll(async () => {
  world = await createWorld({
    name: 'sources',
    way: 'command',
    sources: `
  stripe: { provider: stripe, path: sources/stripe, secrets: [FIRST_SECRET, SECOND_SECRET] }
  yookassa: { provider: yookassa, path: sources/yookassa }
  shop: { provider: custom, path: sources/shop, secrets: [FIRST_SECRET] }
`,
  });
});

const fromProxy = (request: Request, address: string): Request => ({
  ...request,
  headers: { ...request.headers, 'X-Forwarded-For': address },
});

describe.each([
  ['stripe', (source: TestSource) => source.event()],
  ['yookassa', (source: TestSource) => fromProxy(source.event(), PAID_FROM)],
  ['shop', (source: TestSource) => source.event()],
])('%s', (name, newEvent) => {
  test('takes an event once, whatever happens to its deliveries', async () => {
    const source = world.source(name);
    const request = newEvent(source);

    const first = await source.deliver(request);
    const key = source.keyOf(first);
    expect(first).toMatchObject({ status: 200, outcome: 'new' });
    expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(first.body)).toEqual({ ok: true, duplicate: false, key });
    expect(key).toMatch(new RegExp(`^${name}:`));
    await waitFor('the event to be done', async () => (await source.ledger(key))?.status === 'success');

    for (let again = 0; again < 3; again += 1) {
      const answer = await source.deliver(request);
      expect(answer).toMatchObject({ status: 200, outcome: 'duplicate' });
      expect(JSON.parse(answer.body)).toEqual({
        ok: true,
        duplicate: true,
        message: 'event already accepted',
        key,
        status: 'success',
      });
    }

    const event = await source.ledger(key);
    expect(event).toMatchObject({ status: 'success', attempts: 1, deliveries: 4, error: null });
    const audit = await world.sql('SELECT outcome FROM oncehook.webhook_duplicates WHERE event_id = $1', [
      event?.id,
    ]);
    expect(audit).toEqual([{ outcome: 'duplicate' }, { outcome: 'duplicate' }, { outcome: 'duplicate' }]);
    expect(await source.effects(key)).toBe(1);
    const [{ body }] = (await world.sql('SELECT body FROM oncehook.webhook_events WHERE id = $1', [
      event?.id,
    ])) as [{ body: Buffer }];
    expect(body.equals(request.body)).toBe(true);
  });

  test("a duplicate's execution runs no business node", async () => {
    const source = world.source(name);
    const [newest, ...older] = await source.executions(4);
    expect(newest && outputOf(newest, 'Answer')).toBeDefined();
    const worked = [newest, ...older].filter((one) => one && outputOf(one, 'Your business logic'));
    expect(worked).toHaveLength(1);
    expect(worked[0]).toMatchObject({ status: 'success' });
  });

  test('a request without a stable id is accepted and kept as a dead letter', async () => {
    const source = world.source(name);
    const request = source.request(
      { nothing: 'here', for: name },
      { headers: { 'content-type': 'application/json' } },
    );
    const sent = name === 'yookassa' ? fromProxy(request, PAID_FROM) : request;
    for (let again = 0; again < 2; again += 1) {
      const answer = await source.deliver(sent);
      expect(answer).toMatchObject({ status: 200, outcome: 'unkeyed' });
      expect(JSON.parse(answer.body)).toEqual({ ok: true, quarantined: true });
    }
    const letters = await world.sql(
      'SELECT kind, deliveries, body FROM oncehook.webhook_dead_letters WHERE source = $1',
      [name],
    );
    expect(letters).toEqual([{ kind: 'reception', deliveries: 2, body: request.body }]);
  });
});

describe('what is not from the sender', () => {
  async function expectRejected(source: TestSource, request: Request, reason: string) {
    const answer = await source.deliver(request);
    expect(answer).toMatchObject({ status: 401, outcome: 'rejected' });
    expect(JSON.parse(answer.body)).toEqual({ ok: false, error: reason });
  }

  test.each(['stripe', 'shop'])(
    '%s: forged and unsigned requests leave nothing but a count',
    async (name) => {
      const source = world.source(name);
      const before = await world.sql('SELECT count(*)::int FROM oncehook.webhook_events');
      await expectRejected(source, source.event({ secret: 'guessed' }), 'signature wrong');
      const honest = source.event();
      await expectRejected(source, { ...honest, body: Buffer.from(`${honest.body} `) }, 'signature wrong');
      await expectRejected(
        source,
        { ...honest, headers: { 'content-type': 'application/json' } },
        'signature missing',
      );
      const counts = await world.sql(
        'SELECT reason, sum(count)::int AS count FROM oncehook.webhook_rejections WHERE source = $1 GROUP BY reason ORDER BY reason',
        [name],
      );
      expect(counts).toEqual([
        { reason: 'signature missing', count: 1 },
        { reason: 'signature wrong', count: 2 },
      ]);
      expect(await world.sql('SELECT count(*)::int FROM oncehook.webhook_events')).toEqual(before);
    },
  );

  test('stripe: an old signature is refused, one within the tolerance is not', async () => {
    const source = world.source('stripe');
    await expectRejected(source, source.event({ age: 310 }), 'signature expired');
    expect(await source.deliver(source.event({ age: 280 }))).toMatchObject({ status: 200, outcome: 'new' });
  });

  test('stripe: the second live secret counts, and so does the second v1 of a header', async () => {
    const source = world.source('stripe');
    const second = source.event({ secret: 'SECOND_SECRET' });
    expect(await source.deliver(second)).toMatchObject({ status: 200, outcome: 'new' });

    const rolled = source.event();
    const header = rolled.headers['stripe-signature'] ?? '';
    const [time, signature] = header.split(',');
    const decoy = `v1=${'0'.repeat(64)}`;
    const both = {
      ...rolled,
      headers: { ...rolled.headers, 'stripe-signature': `${time},${decoy},${signature}` },
    };
    expect(await source.deliver(both)).toMatchObject({ status: 200, outcome: 'new' });
    const none = {
      ...rolled,
      headers: { ...rolled.headers, 'stripe-signature': `${time},${decoy},${decoy}` },
    };
    await expectRejected(source, none, 'signature wrong');
  });

  test('yookassa: n8n itself refuses another address, a forged one included', async () => {
    const source = world.source('yookassa');
    const request = source.event();
    for (const address of ['203.0.113.9', `${PAID_FROM}, 203.0.113.9`, '']) {
      const answer = await source.deliver(fromProxy(request, address));
      expect(answer).toMatchObject({ status: 403, outcome: undefined });
    }
    for (const address of [`203.0.113.9, ${PAID_FROM}`, '2a02:5180:0:1::9']) {
      const answer = await source.deliver(fromProxy(source.event(), address));
      expect(answer).toMatchObject({ status: 200, outcome: 'new' });
    }
  });
});
