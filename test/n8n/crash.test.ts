import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Execution, getExecution, listExecutions, outputOf } from './harness/executions.ts';
import { type OwnN8n, startOwnN8n } from './harness/own.ts';
import type { Request, TestSource } from './harness/source.ts';
import { waitFor } from './harness/wait.ts';
import { createWorld, type World } from './harness/world.ts';

let own: OwnN8n;
let world: World;

beforeAll(async () => {
  own = await startOwnN8n('crash');
  world = await createWorld({
    name: 'crash',
    n8n: { account: own.account, place: own.n8n },
    sources: `
  short: { provider: custom, path: crash/short, secrets: [FIRST_SECRET], lease: 2s }
  long: { provider: custom, path: crash/long, secrets: [FIRST_SECRET], lease: 10m }
`,
  });
});
afterAll(async () => own?.end());

const request = (source: TestSource, id: string): Request =>
  source.request({ event_id: id }, { headers: { 'content-type': 'application/json' } });

/** Delivers an event and resolves while its business node is at work, and stays there. */
async function begin(source: TestSource, id: string) {
  const key = `${source.resolved.id}:${id}`;
  const hold = await source.hold(key);
  expect(await source.deliver(request(source, id))).toMatchObject({ status: 200, outcome: 'new' });
  await waitFor('the business node to be at work', async () => (await hold.waiting()) === 1);
  return { key, hold };
}

/** The ended runs of the workflow's own Error Trigger, newest first. */
async function errorRuns(source: TestSource): Promise<Execution[]> {
  const { id } = await source.stored();
  return (await listExecutions(own.account, id)).filter(
    ({ mode, stoppedAt }) => mode === 'error' && stoppedAt,
  );
}

/** Waits for one more such run than `before`, and expects that it left the ledger alone. */
async function expectIgnored(source: TestSource, before: number): Promise<void> {
  const [newest] = await waitFor('n8n to call the run crashed', async () => {
    const runs = await errorRuns(source);
    return runs.length > before && runs;
  });
  const run = await getExecution(own.account, newest?.id ?? '');
  expect(outputOf(run, 'Mark failed')).toMatchObject([[{ status: 'ignored' }]]);
}

test('killed in the middle of its work: the lease frees the event, and n8n’s crash recovery does not', async () => {
  const [short, long] = [world.source('short'), world.source('long')];
  const lost = await begin(long, 'killed');
  const freed = await begin(short, 'killed');
  await own.n8n.kill();
  // The work dies with n8n.
  await world.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%work(%' AND pid <> pg_backend_pid()`,
  );
  await lost.hold.release();
  await freed.hold.release();
  await own.n8n.start();

  // n8n says of both runs that they crashed, and starts their Error Trigger.
  await expectIgnored(long, 0);
  expect(await long.ledger(lost.key)).toMatchObject({ status: 'processing', attempts: 1 });
  expect(await long.deliver(request(long, 'killed'))).toMatchObject({ status: 200, outcome: 'duplicate' });

  await waitFor('the lease to end', async () => (await short.ledger(freed.key))?.status === 'lapsed');
  expect(await short.deliver(request(short, 'killed'))).toMatchObject({ status: 200, outcome: 'reclaimed' });
  await waitFor('the event to be done', async () => (await short.ledger(freed.key))?.status === 'success');
  expect(await short.ledger(freed.key)).toMatchObject({ attempts: 2, error: null });
  expect(await short.effects(freed.key)).toBe(1);
});

test('a run that lives while another n8n starts is marked as crashed by n8n, and not by the ledger', async () => {
  const long = world.source('long');
  const before = (await errorRuns(long)).length;
  const { key, hold } = await begin(long, 'alive');
  await own.startTwin();
  await expectIgnored(long, before);

  expect(await long.ledger(key)).toMatchObject({ status: 'processing', attempts: 1 });
  expect(await long.deliver(request(long, 'alive'))).toMatchObject({ status: 200, outcome: 'duplicate' });
  await hold.release();
  await waitFor('the run to complete its event', async () => (await long.ledger(key))?.status === 'success');
  expect(await long.ledger(key)).toMatchObject({ attempts: 1, overruns: 0 });
  expect(await long.effects(key)).toBe(1);
});

test('a run that lasts longer than its lease is overtaken, cannot mark the event, and is told why', async () => {
  const short = world.source('short');
  // Without the time-out, as after pasting: n8n lets the run go on after its lease.
  await short.replace({ ...short.workflow, settings: { ...short.workflow.settings, executionTimeout: -1 } });
  const { key, hold } = await begin(short, 'slow');
  const [claimed] = await world.sql<{ execution_id: string }>(
    'SELECT execution_id FROM oncehook.webhook_events WHERE idempotency_key = $1',
    [key],
  );
  await waitFor('the lease to end', async () => (await short.ledger(key))?.status === 'lapsed');
  const second = await short.hold(key);
  expect(await short.deliver(request(short, 'slow'))).toMatchObject({ status: 200, outcome: 'reclaimed' });
  await waitFor('the second run to be at work', async () => (await second.waiting()) === 1);

  await hold.release();
  const overtaken = await waitFor('the first run to end', async () => {
    const run = await getExecution(own.account, claimed?.execution_id ?? '');
    return run.status === 'success' && run;
  });
  expect(outputOf(overtaken, 'Mark success')).toMatchObject([[{ status: 'overtaken' }]]);
  expect(JSON.stringify(outputOf(overtaken, 'Mark success'))).toContain('lease');
  // The second run holds the event (or its own lease has lapsed by now): nothing is done before it is.
  expect((await short.ledger(key))?.status).toMatch(/^(processing|lapsed)$/);
  expect(await short.ledger(key)).toMatchObject({ attempts: 2, overruns: 1 });

  await second.release();
  await waitFor('the second run to be done', async () => (await short.ledger(key))?.status === 'success');
  // The price of a lease that is too short.
  expect(await short.effects(key)).toBe(2);
});
