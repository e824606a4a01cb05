import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAll } from '../../src/n8n/connection.ts';
import { awaitLive } from '../../src/n8n/probe.ts';
import type { StoredWorkflow } from '../../src/n8n/workflows.ts';
import { type OwnN8n, startOwnN8n } from './harness/own.ts';
import type { ImportWay, Request, TestSource } from './harness/source.ts';
import { createWorld, type World } from './harness/world.ts';

let own: OwnN8n;
let world: World;
let shop: TestSource;
let known: Request;

beforeAll(async () => {
  own = await startOwnN8n('reimport');
  world = await createWorld({
    name: 'reimport',
    n8n: { account: own.account, place: own.n8n },
    way: 'command',
    sources: '  shop: { provider: custom, path: reimport/shop, secrets: [FIRST_SECRET] }\n',
  });
  shop = world.source('shop');
  known = shop.event();
  expect(await shop.deliver(known)).toMatchObject({ status: 200, outcome: 'new' });
});
afterAll(async () => own?.end());

/** The URL answers as before: it remembers what it took, and takes what is new. */
async function expectWorking(): Promise<void> {
  expect(await shop.deliver(known)).toMatchObject({ status: 200, outcome: 'duplicate' });
  expect(await shop.deliver(shop.event())).toMatchObject({ status: 200, outcome: 'new' });
}

const workflows = () => listAll<StoredWorkflow>(own.account, 'workflows');

test('generated once more, it is the same workflow', () => {
  expect(world.regenerate('shop')).toEqual(shop.workflow);
});

test.each<ImportWay>(['command', 'REST'])(
  'imported again by %s: the same workflow, the same URL',
  async (way) => {
    const before = await shop.stored();
    await shop.import(way, { ...shop.workflow, name: `imported by ${way}` });
    await shop.publish();
    expect(await workflows()).toMatchObject([{ id: before.id, name: `imported by ${way}`, active: true }]);
    expect(before.id).toBe(shop.workflow.id);
    await expectWorking();
  },
);

test('the URL stays over a restart of n8n', async () => {
  await own.n8n.stop();
  await own.n8n.start();
  await expectWorking();
});

test('after an import by command alone n8n has it unpublished, and a restart takes the URL down', async () => {
  await shop.import('command');
  expect(await workflows()).toMatchObject([{ id: shop.workflow.id, active: false }]);
  await own.n8n.stop();
  await own.n8n.start();
  await awaitLive(own.account.url, shop.resolved.path, false);
  expect(await shop.deliver(known)).toMatchObject({ status: 404, outcome: undefined });
  await shop.publish();
  await expectWorking();
});
