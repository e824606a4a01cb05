import { beforeAll, describe, expect, test } from 'vitest';
import { outputOf } from './harness/executions.ts';
import { createCaller } from './harness/replay.ts';
import type { TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let world: World;
const json = { headers: { 'content-type': 'application/json' } };

beforeAll(async () => {
  world = await createWorld({
    name: 'batches',
    sources: `
  crm: { provider: several, path: batches/crm, secrets: [FIRST_SECRET] }
  sure: { provider: several, path: batches/sure, secrets: [FIRST_SECRET], ack: after-success }
  short: { provider: several, path: batches/short, secrets: [FIRST_SECRET] }
`,
  });
});

const request = (source: TestSource, ...ids: string[]) =>
  source.request({ app: 1, events: ids.map((id) => ({ id, type: 'made' })) }, json);
const breakWork = (key: string) => world.sql('INSERT INTO broken VALUES ($1, $2)', [key, 'on purpose']);
const mendWork = () => world.sql('DELETE FROM broken');
const done = (source: TestSource, key: string) =>
  waitFor(`${key} to be done`, async () => (await source.ledger(key))?.status === 'success');
const order = async (source: string) =>
  (
    await world.sql<{ key: string }>("SELECT key FROM effects WHERE key LIKE $1 || ':%' ORDER BY at", [
      source,
    ])
  ).map(({ key }) => key);

describe('a request of several events', () => {
  test('is answered once, and each event has its effect once, in the order of the request', async () => {
    const source = world.source('crm');
    const sent = request(source, 'z', 'a', 'm', 'z');
    const answer = await source.deliver(sent);
    expect(answer).toMatchObject({ status: 200, outcome: 'new' });
    expect(JSON.parse(answer.body)).toMatchObject({ ok: true, items: 4, new: 3, duplicate: 1 });
    for (const id of ['z', 'a', 'm']) await done(source, `crm:${id}`);
    expect(await order('crm')).toEqual(['crm:z', 'crm:a', 'crm:m']);

    const again = await source.deliver(sent);
    expect(again).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(JSON.parse(again.body)).toMatchObject({ items: 4, new: 0, duplicate: 4 });
    const mixed = await source.deliver(request(source, 'a', 'b'));
    expect(JSON.parse(mixed.body)).toMatchObject({ items: 2, new: 1 });
    await done(source, 'crm:b');
    expect(await order('crm')).toEqual(['crm:z', 'crm:a', 'crm:m', 'crm:b']);
  });

  test('that is forged, or holds none, never reaches the work', async () => {
    const source = world.source('crm');
    expect(
      await source.deliver(source.request({ events: [{ id: 1 }] }, { ...json, secret: 'guessed' })),
    ).toMatchObject({
      ...{ status: 401, outcome: 'rejected' },
    });
    expect(await source.deliver(source.request({ events: [] }, json))).toMatchObject({
      ...{ status: 200, outcome: 'unkeyed', body: '{"ok":true,"quarantined":true}' },
    });
  });

  test('of which one fails: those before it are done, and a redelivery takes only the rest', async () => {
    const source = world.source('crm');
    const sent = request(source, 'f1', 'f2', 'f3');
    await breakWork('crm:f2');
    await source.deliver(sent);
    await waitFor('the failure', async () => (await source.ledger('crm:f2'))?.status === 'failed');
    expect(await source.ledger('crm:f1')).toMatchObject({ status: 'success', attempts: 1 });
    expect(await source.ledger('crm:f3')).toMatchObject({ status: 'failed', attempts: 1 });
    expect(await source.effects('crm:f3')).toBe(0);

    await mendWork();
    const again = await source.deliver(sent);
    expect(again).toMatchObject({ status: 200, outcome: 'reclaimed' });
    for (const id of ['f2', 'f3']) await done(source, `crm:${id}`);
    for (const id of ['f1', 'f2', 'f3']) expect(await source.effects(`crm:${id}`)).toBe(1);
  });

  test('while its run is at work: a redelivery takes none of the rest', async () => {
    const source = world.source('crm');
    const sent = request(source, 'h1', 'h2');
    const hold = await source.hold('crm:h1');
    await source.deliver(sent);
    await waitFor('the work on the first event', async () => (await hold.waiting()) === 1);
    const again = await source.deliver(sent);
    expect(JSON.parse(again.body)).toMatchObject({ new: 0, reclaimed: 0, duplicate: 2 });
    await hold.release();
    for (const id of ['h1', 'h2']) await done(source, `crm:${id}`);
    for (const id of ['h1', 'h2']) expect(await source.effects(`crm:${id}`)).toBe(1);
  });

  test('whose run was overtaken: it stops at the event that it lost', async () => {
    const source = world.source('short');
    const sent = request(source, 'o1', 'o2');
    const hold = await source.hold('short:o1');
    await source.deliver(sent);
    await waitFor('the work on the first event', async () => (await hold.waiting()) === 1);
    // As if the lease had lapsed, and another run had taken both.
    await world.sql(
      "UPDATE oncehook.webhook_events SET claim_hash = sha256('x'), attempts = attempts + 1, execution_id = 'other' WHERE source = 'short'",
    );
    await hold.release();
    const [execution] = await source.executions(1);
    expect(execution && outputOf(execution, 'Mark success')).toMatchObject([[{ status: 'overtaken' }]]);
    expect(execution && outputOf(execution, 'Still ours?')?.[1]).toHaveLength(1);
    expect(await source.effects('short:o2')).toBe(0);
    expect(await source.ledger('short:o1')).toMatchObject({ overruns: 1 });
  });

  test('one of its events is replayed by itself', async () => {
    const source = world.source('crm');
    await breakWork('crm:r1');
    await source.deliver(request(source, 'r1', 'r2'));
    await waitFor('the failure', async () => (await source.ledger('crm:r2'))?.status === 'failed');
    await mendWork();
    const caller = await createCaller(world.account, (await source.stored()).id);
    await caller.replay((await source.ledger('crm:r2'))?.id ?? '');
    await done(source, 'crm:r2');
    expect(await source.ledger('crm:r1')).toMatchObject({ status: 'failed' });
  });
});

describe('with ack: after-success', () => {
  test('the answer comes when all events are done', async () => {
    const source = world.source('sure');
    const sent = request(source, 's1', 's2');
    const hold = await source.hold('sure:s2');
    const first = source.deliver(sent);
    await waitFor('the work on the last event', async () => (await hold.waiting()) === 1);
    expect(await source.deliver(sent)).toMatchObject({ status: 503 });
    await hold.release();
    expect(await first).toMatchObject({ status: 200, outcome: 'new' });
    expect(await source.ledger('sure:s2')).toMatchObject({ status: 'success' });
    expect(await source.deliver(sent)).toMatchObject({ status: 200, outcome: 'duplicate' });
  });

  test('an event that fails is answered 500, and the redelivery does what is not done', async () => {
    const source = world.source('sure');
    const sent = request(source, 't1', 't2');
    await breakWork('sure:t2');
    expect(await source.deliver(sent)).toMatchObject({ status: 500 });
    await waitFor('the failure', async () => (await source.ledger('sure:t2'))?.status === 'failed');
    await mendWork();
    expect(await source.deliver(sent)).toMatchObject({ status: 200, outcome: 'reclaimed' });
    for (const id of ['t1', 't2']) expect(await source.effects(`sure:${id}`)).toBe(1);
  });
});
