import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

const ROUNDS = 20;
const AT_ONCE = 64;

let world: World;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

beforeAll(async () => {
  world = await createWorld({
    name: 'concurrency',
    sources: '  stripe: { provider: stripe, path: concurrency/stripe, secrets: [FIRST_SECRET] }\n',
  });
});
afterAll(() => agent.destroy());

test(`${AT_ONCE} equal deliveries at once, ${ROUNDS} rounds: the business node runs once a round`, async () => {
  const source = world.source('stripe');
  for (let round = 1; round <= ROUNDS; round += 1) {
    const request = source.event();
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => source.deliver(request, { agent, timeout: 120_000 })),
    );
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
