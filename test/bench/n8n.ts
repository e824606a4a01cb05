import { mkdtemp, rm } from 'node:fs/promises';
import type { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../src/ledger/embedded/server.ts';
import { request } from '../../src/n8n/connection.ts';
import { ensurePostgresCredential } from '../../src/n8n/credentials.ts';
import { awaitLive } from '../../src/n8n/probe.ts';
import { importWorkflow, publishWorkflow, type WorkflowFile } from '../../src/n8n/workflows.ts';
import { type Account, setUpOwner } from '../n8n/harness/account.ts';
import { deliver } from '../n8n/harness/deliver.ts';
import type { Execution } from '../n8n/harness/executions.ts';
import { startN8n } from '../n8n/harness/n8n.ts';
import { createDatabase, loginOf, query } from '../n8n/harness/postgres.ts';
import { waitFor } from '../n8n/harness/wait.ts';
import { createWorld, type World } from '../n8n/harness/world.ts';
import { measureRounds, ratioOf, type Subject } from './n8n-rounds.ts';
import { bareWorkflow, handMadeWorkflow } from './n8n-workflows.ts';
import { median } from './pairs.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const WANTED: [first: string, second: string, least: number][] = [
  ['new', 'bare', 0.65],
  ['duplicate', 'bare', 0.75],
  ['new', 'hand-made, new', 0.85],
  ['duplicate', 'hand-made, seen', 0.85],
];

const folder = await mkdtemp(join(tmpdir(), 'oncehook-bench-'));
const server = await startServer({ dataDir: join(folder, 'postgres'), settings: { max_connections: '300' } });
const n8n = await startN8n({
  databaseUrl: await createDatabase(server.urlFor('postgres'), 'n8n'),
  folder: join(folder, 'n8n'),
});
try {
  const account = await setUpOwner(n8n.url);
  const world = await createWorld({
    name: 'bench',
    sources: '  stripe: { provider: stripe, path: bench/stripe, secrets: [FIRST_SECRET] }\n',
    postgresUrl: server.urlFor('postgres'),
    n8n: { account, place: n8n },
    business: false,
  });
  const subjects = await makeSubjects(world, account);
  const result: Record<string, number> = {};
  console.log(
    '| connections | measured | ratio | wanted | first, a second | second, a second |\n|---|---|---|---|---|---|',
  );
  for (const connections of [8, 16]) {
    process.stderr.write(
      `${connections} connections, ${ROUNDS} rounds of ${subjects.length} × ${SECONDS} s …\n`,
    );
    const rates = await measureRounds(subjects, { connections, seconds: SECONDS, rounds: ROUNDS });
    for (const [first, second, least] of WANTED) {
      const ratio = ratioOf(rates, first, second);
      const each = [first, second].map((name) => median(rates.get(name) ?? []).toFixed(0));
      console.log(
        `| ${connections} | ${first} ÷ ${second} | ${ratio.toFixed(2)} | ≥ ${least} | ${each.join(' | ')} |`,
      );
      result[`${first}/${second}@${connections}`] = Number(ratio.toFixed(3));
    }
  }
  await printNodes(world);
  console.log(JSON.stringify(result));
} finally {
  await n8n.kill();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function makeSubjects(world: World, account: Account): Promise<Subject[]> {
  const source = world.source('stripe');
  const url = (path: string) => `${account.url}/webhook/${path}`;
  const publish = async (file: WorkflowFile, path: string) => {
    await publishWorkflow(account, (await importWorkflow(account, file)).id);
    await awaitLive(account.url, path);
  };
  await query(
    world.databaseUrl,
    'CREATE TABLE seen (id text PRIMARY KEY, body jsonb, at timestamptz DEFAULT now())',
  );
  await ensurePostgresCredential(account, 'By hand', loginOf(world.databaseUrl));
  await publish(bareWorkflow('bench/bare'), 'bench/bare');
  await publish(handMadeWorkflow('bench/hand', 'By hand'), 'bench/hand');
  const again = source.event();
  // One at a time: of several at once the hand-made workflow takes each for new, and fails.
  await deliver(url('bench/hand'), again);
  const done = async () => {
    await waitFor(
      'every event to be completed',
      async () => {
        const [row] = await world.sql<{ open: number }>(
          "SELECT count(*)::int AS open FROM oncehook.webhook_events WHERE status = 'processing'",
        );
        return row?.open === 0;
      },
      { timeout: 60_000 },
    );
  };
  const fresh = () => source.event();
  return [
    { name: 'bare', send: (agent) => deliver(url('bench/bare'), { ...fresh(), agent }) },
    { name: 'new', send: (agent) => source.deliver(fresh(), { agent }), settle: done },
    { name: 'duplicate', send: (agent: Agent) => source.deliver(again, { agent }) },
    { name: 'hand-made, new', send: (agent) => deliver(url('bench/hand'), { ...fresh(), agent }) },
    { name: 'hand-made, seen', send: (agent) => deliver(url('bench/hand'), { ...again, agent }) },
  ];
}

/** What each node of the generated workflow takes, by n8n's own clock. */
async function printNodes(world: World): Promise<void> {
  const source = world.source('stripe');
  const again = source.event();
  await source.deliver(again);
  const columns = [
    await nodeTimes(world, () => source.deliver(source.event())),
    await nodeTimes(world, () => source.deliver(again)),
  ];
  console.log('\n| node | new, ms | duplicate, ms |\n|---|---|---|');
  for (const node of new Set(columns.flatMap((times) => [...times.keys()]))) {
    console.log(`| ${node} | ${columns.map((times) => times.get(node) ?? '').join(' | ')} |`);
  }
}

/** Medians over 20 executions, one after the other. */
async function nodeTimes(world: World, send: () => Promise<unknown>): Promise<Map<string, number>> {
  for (let count = 0; count < 20; count += 1) await send();
  const { id } = await world.source('stripe').stored();
  const newest = await waitFor('20 ended executions', async () => {
    const page = await request(
      world.account,
      'GET',
      `executions?workflowId=${id}&limit=20&status=success&includeData=true`,
    );
    const { data } = page as { data: Execution[] };
    return data.length === 20 && data;
  });
  const taken = new Map<string, number[]>();
  for (const { data } of newest) {
    for (const [node, runs] of Object.entries(data.resultData.runData)) {
      taken.set(node, [...(taken.get(node) ?? []), ...runs.map((run) => run.executionTime)]);
    }
  }
  return new Map([...taken].map(([node, times]) => [node, median(times)]));
}
