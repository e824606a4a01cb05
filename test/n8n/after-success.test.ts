import { beforeAll, expect, test } from 'vitest';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let world: World;
const json = { headers: { 'content-type': 'application/json' } };

beforeAll(async () => {
  world = await createWorld({
    name: 'after',
    sources: '  shop: { provider: custom, path: after/shop, secrets: [FIRST_SECRET], ack: after-success }\n',
  });
});

test('the answer comes after the work, and a duplicate meanwhile is asked to come again', async () => {
  const source = world.source('shop');
  const request = source.request({ event_id: 'slow' }, json);
  const hold = await source.hold('shop:slow');
  let answered = false;
  const first = source.deliver(request).finally(() => {
    answered = true;
  });
  await waitFor('the business node to be at work', async () => (await hold.waiting()) === 1);

  const meanwhile = await source.deliver(request);
  expect(meanwhile).toMatchObject({ status: 503, outcome: 'duplicate' });
  expect(Number(meanwhile.headers['retry-after'])).toBeGreaterThan(0);
  expect(answered).toBe(false);

  await hold.release();
  const answer = await first;
  expect(answer).toMatchObject({ status: 200, outcome: 'new' });
  expect(answer.headers['retry-after']).toBeUndefined();
  expect(JSON.parse(answer.body)).toEqual({ ok: true, duplicate: false, key: 'shop:slow' });
  // No waiting here: the answer promises it.
  expect(await source.ledger('shop:slow')).toMatchObject({ status: 'success', attempts: 1 });
  expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
  expect(await source.effects('shop:slow')).toBe(1);
});

test('work that fails is answered 500, and the redelivery does it', async () => {
  const source = world.source('shop');
  const request = source.request({ event_id: 'fails' }, json);
  await world.sql('INSERT INTO broken VALUES ($1, $2)', ['shop:fails', 'no such order']);

  expect(await source.deliver(request)).toMatchObject({ status: 500, outcome: undefined });
  await waitFor(
    'the event to be marked',
    async () => (await source.ledger('shop:fails'))?.status === 'failed',
  );
  expect(await source.ledger('shop:fails')).toMatchObject({ error: 'no such order' });

  await world.sql('DELETE FROM broken');
  expect(await source.deliver(request)).toMatchObject({ status: 200, outcome: 'reclaimed' });
  expect(await source.ledger('shop:fails')).toMatchObject({ status: 'success', attempts: 2 });
  expect(await source.effects('shop:fails')).toBe(1);
});

test('a forged request never reaches the work', async () => {
  const source = world.source('shop');
  expect(await source.deliver(source.event({ secret: 'guessed' }))).toMatchObject({
    status: 401,
    outcome: 'rejected',
  });
});
