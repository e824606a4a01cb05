import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

const ROUNDS = 20;
const AT_ONCE = 64;

let world: World;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const SLOWLY = { agent, timeout: 120_000 };

beforeAll(async () => {
  world = await createWorld({
    name: 'concurrency',
    sources: '  stripe: { provider: stripe, path: concurrency/stripe, secrets: [FIRST_SECRET] }\n',
  });
  // n8n opens its connections at first use. So many at once can outlast the gate's connection time-out on a slow
  // machine, and are then refused with 503, as they should be; what is tested here is what happens after that.
  const source = world.source('stripe');
  const warm = () =>
    Promise.all(Array.from({ length: AT_ONCE }, () => source.deliver(source.event(), SLOWLY)));
  await waitFor(
    'connections for all of them',
    async () => (await warm()).every(({ status }) => status === 200),
    { timeout: 300_000 },
  );
  await waitFor('their work to be done', async () => {
    const open = await world.sql("SELECT FROM oncehook.webhook_events WHERE status = 'processing'");
    return open.length === 0;
  });
  await world.sql('DELETE FROM effects');
}, 400_000);
afterAll(() => agent.destroy());

test(`${AT_ONCE} equal deliveries at once, ${ROUNDS} rounds: the business node runs once a round`, async () => {
  const source = world.source('stripe');
  for (let round = 1; round <= ROUNDS; round += 1) {
    const request = source.event();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => source.deliver(request, SLOWLY)));
    expect(answers.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
      ...Array(AT_ONCE - 1).fill('duplicate'),
      'new',
    ]);
    const [first] = answers;
    const key = first ? source.keyOf(first) : '';
    await waitFor('the event to be done', async () => (await source.ledger(key))?.status === 'success');
    expect(await source.ledger(key)).toMatchObject({ attempts: 1, deliveries: AT_ONCE });
    expect(await source.effects(key)).toBe(1);
  }
  const [{ count }] = (await world.sql('SELECT count(*)::int AS count FROM effects')) as [{ count: number }];
  expect(count).toBe(ROUNDS);
}, 600_000);
