import { beforeAll, expect, test } from 'vitest';
import { internal } from './harness/account.ts';
import { type Answer, deliver } from './harness/deliver.ts';
import type { Request, TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let world: World;
let shop: TestSource;

beforeAll(async () => {
  world = await createWorld({
    name: 'testurl',
    sources: '  shop: { provider: custom, path: testurl/shop, secrets: [FIRST_SECRET] }\n',
  });
  shop = world.source('shop');
});

/** What "Listen for test event" in the editor does; n8n then takes one delivery on the test URL. */
async function deliverToTestUrl(request: Request): Promise<Answer> {
  const { id } = await shop.stored();
  const run = await internal(world.account, 'POST', `workflows/${id}/run`, {
    triggerToStartFrom: { name: 'Webhook' },
  });
  expect(run).toEqual({ waitingForWebhook: true });
  return deliver(`${world.account.url}/webhook-test/${shop.resolved.path}`, request);
}

test('a run on the test URL takes no production key, and production takes none of its', async () => {
  const request = shop.request({ event_id: 'both' }, { headers: { 'content-type': 'application/json' } });

  const tried = await deliverToTestUrl(request);
  expect(tried).toMatchObject({ status: 200, outcome: 'new' });
  expect(shop.keyOf(tried)).not.toBe('shop:both');
  await waitFor(
    'the test run to be done',
    async () => (await shop.ledger(shop.keyOf(tried)))?.status === 'success',
  );
  expect(await shop.ledger('shop:both')).toBeUndefined();

  const real = await shop.deliver(request);
  expect(real).toMatchObject({ status: 200, outcome: 'new' });
  expect(shop.keyOf(real)).toBe('shop:both');
  expect(await shop.deliver(request)).toMatchObject({ status: 200, outcome: 'duplicate' });

  // The test URL has its own memory.
  expect(await deliverToTestUrl(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
});

test('the test URL checks signatures as well', async () => {
  expect(await deliverToTestUrl(shop.event({ secret: 'guessed' }))).toMatchObject({
    status: 401,
    outcome: 'rejected',
  });
});
