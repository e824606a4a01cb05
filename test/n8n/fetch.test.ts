import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request as callN8n } from '../../src/n8n/connection.ts';
import { mapNode } from './harness/business.ts';
import { type Caller, createCaller } from './harness/replay.ts';
import type { TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let world: World;
/** What the API says of each object; a number is a status without an object. */
const objects = new Map<string, string | number>();
const calls: { path: string; authorization: string | undefined }[] = [];
const api = createServer((incoming, outgoing) => {
  const path = incoming.url ?? '';
  calls.push({ path, authorization: incoming.headers.authorization });
  const found = objects.get(path.split('/').at(-1) ?? '') ?? 404;
  if (typeof found === 'number') outgoing.writeHead(found, { location: '/elsewhere' }).end('{"error":"no"}');
  else outgoing.writeHead(200, { 'content-type': 'application/json' }).end(found);
});

beforeAll(async () => {
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  world = await createWorld({
    name: 'fetch',
    sources: `
  pay: { provider: changes, path: fetch/pay, secrets: [FIRST_SECRET] }
  sure: { provider: changes, path: fetch/sure, secrets: [FIRST_SECRET], ack: after-success }
`,
  });
  for (const name of ['pay', 'sure']) {
    const source = world.source(name);
    await callN8n(world.account, 'POST', 'credentials', {
      name: `Changes API for ${name}`,
      type: 'httpHeaderAuth',
      data: { name: 'Authorization', value: 'Bearer only-for-tests' },
    });
    const { port } = api.address() as AddressInfo;
    const local = mapNode(source.workflow, 'Fetch object', (node) => ({
      ...node,
      parameters: {
        ...node.parameters,
        url: String(node.parameters['url']).replace(
          'https://api.changes.example',
          `http://127.0.0.1:${port}`,
        ),
      },
      waitBetweenTries: 100,
    }));
    await source.replace(local);
  }
});
afterAll(() => api.close());

const send = (source: TestSource, id: string) =>
  source.deliver(
    source.request(`id=${id}`, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  );
const done = (source: TestSource, key: string) =>
  waitFor(`${key} to be done`, async () => (await source.ledger(key))?.status === 'success');
const deliveries = (id: string) =>
  world.sql<{ id: string; status: string }>(
    "SELECT id::text, status FROM oncehook.webhook_events WHERE idempotency_key LIKE 'delivery/%' AND body = convert_to($1, 'UTF8') ORDER BY id",
    [`id=${id}`],
  );
const callers = new Map<string, Caller>();
const replay = async (source: TestSource, eventId: string) => {
  const { id } = await source.stored();
  const caller = callers.get(id) ?? (await createCaller(world.account, id));
  callers.set(id, caller);
  return caller.replay(eventId);
};

describe('a delivery that tells of an object', () => {
  test('is acknowledged, its object fetched with the credential, and every change has one effect', async () => {
    const source = world.source('pay');
    const body = '{"id":"tr_1", "status":"open","amount":1.0}';
    objects.set('tr_1', body);
    for (let n = 0; n < 3; n += 1)
      expect(await send(source, 'tr_1')).toMatchObject({ status: 200, outcome: 'new' });
    await done(source, 'pay:tr_1:open');
    await waitFor('all deliveries to be done', async () =>
      (await deliveries('tr_1')).every(({ status }) => status === 'success'),
    );
    expect(await source.effects('pay:tr_1:open')).toBe(1);
    expect(calls[0]).toEqual({ path: '/v2/payments/tr_1', authorization: 'Bearer only-for-tests' });
    const [event] = await world.sql<{ body: Buffer }>(
      "SELECT body FROM oncehook.webhook_events WHERE idempotency_key = 'pay:tr_1:open'",
    );
    expect(String(event?.body)).toBe(body);

    objects.set('tr_1', '{"id":"tr_1","status":"paid"}');
    await send(source, 'tr_1');
    await done(source, 'pay:tr_1:paid');
    expect(await source.effects('pay:tr_1:paid')).toBe(1);
  });

  test.each(['tr_1/../../other', 'evil', 'tr_1?x=1'])(
    'is never fetched by an id that is none: %s',
    async (id) => {
      const before = calls.length;
      expect(await send(world.source('pay'), encodeURIComponent(id))).toMatchObject({
        status: 200,
        outcome: 'unkeyed',
      });
      expect(calls).toHaveLength(before);
    },
  );

  test('stays due where the fetch fails, and a replay fetches again', async () => {
    const source = world.source('pay');
    for (const [id, status] of [
      ['tr_down', 503],
      ['tr_moved', 302],
    ] as const) {
      objects.set(id, status);
      expect(await send(source, id)).toMatchObject({ status: 200, outcome: 'new' });
      const [failed] = await waitFor('the failure', async () => {
        const found = await deliveries(id);
        return found[0]?.status === 'failed' && found;
      });
      objects.set(id, `{"id":"${id}","status":"paid"}`);
      await replay(source, failed?.id ?? '');
      await done(source, `pay:${id}:paid`);
      expect((await deliveries(id))[0]?.status).toBe('success');
      expect(await source.effects(`pay:${id}:paid`)).toBe(1);
    }
    expect(calls.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  test('whose work fails: the event is replayed without another fetch', async () => {
    const source = world.source('pay');
    objects.set('tr_work', '{"id":"tr_work","status":"paid"}');
    await world.sql("INSERT INTO broken VALUES ('pay:tr_work:paid', 'on purpose')");
    await send(source, 'tr_work');
    const failed = await waitFor('the failure', async () => {
      const found = await source.ledger('pay:tr_work:paid');
      return found?.status === 'failed' && found;
    });
    expect((await deliveries('tr_work'))[0]?.status).toBe('success');
    await world.sql('DELETE FROM broken');
    const before = calls.length;
    await replay(source, failed.id);
    await done(source, 'pay:tr_work:paid');
    expect(calls).toHaveLength(before);
    expect(await source.effects('pay:tr_work:paid')).toBe(1);
  });
});

test('with ack: after-success the sender hears what became of the object', async () => {
  const source = world.source('sure');
  objects.set('tr_s', '{"id":"tr_s","status":"paid"}');
  expect(await send(source, 'tr_s')).toMatchObject({ status: 200, outcome: 'new' });
  expect(await source.ledger('sure:tr_s:paid')).toMatchObject({ status: 'success' });
  expect(await send(source, 'tr_s')).toMatchObject({ status: 200, outcome: 'duplicate' });
  objects.set('tr_t', 500);
  expect(await send(source, 'tr_t')).toMatchObject({ status: 500 });
});
