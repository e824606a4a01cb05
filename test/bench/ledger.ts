import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startServer } from '../../src/ledger/embedded/server.ts';
import { migrate } from '../../src/ledger/migrate.ts';
import {
  claimStatement,
  hmacStatement,
  plainStatement,
  SECRET,
  SOURCE,
  verifyStatement,
} from './ledger-statements.ts';
import { measurePairs, printRatios, type Side } from './pairs.ts';

/** Seconds that one side of a pair runs. */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 7);
/** Statements that each connection runs before the clock starts: the first ones compile and plan. */
const WARM_UP = 10;

const source = `
  CREATE EXTENSION IF NOT EXISTS pgcrypto;
  INSERT INTO oncehook.webhook_sources (id, name, provider, signature, key_recipe, type_recipe, object_recipe, tolerance_seconds)
  VALUES ('${SOURCE}', 'bench', 'stripe', '{"scheme": "hmac", "hash": "sha256", "header": "stripe-signature", "encoding": "hex",
    "pairs": {"separator": ",", "name": "v1"}, "signed": [[{"from": "timestamp"}, ".", {"from": "body"}]],
    "timestamp": {"pair": "t", "unit": "s", "tolerance": 300}}', '{body.id}', '{body.type}', '{body.data.object.id}', 300);
  INSERT INTO oncehook.webhook_secrets (source_id, name, secret) VALUES ('${SOURCE}', 'bench', '${SECRET}');
  ANALYZE oncehook.webhook_sources;`;

/** Runs a statement made anew each time on as many connections as asked, as fast as they go. */
function load(url: string, make: () => string, clients: number): Side {
  return async () => {
    const connections = await Promise.all(
      Array.from({ length: clients }, async () => {
        // Values as they come: what is measured is the database, not how a client reads JSON.
        const client = new pg.Client({
          connectionString: url,
          types: { getTypeParser: () => (value: string) => value },
        });
        await client.connect();
        return client;
      }),
    );
    // n8n keeps its connections, so plans are there already when a delivery comes.
    await Promise.all(
      connections.map(async (client) => {
        for (let i = 0; i < WARM_UP; i++) await client.query(make());
      }),
    );
    let count = 0;
    const began = performance.now();
    const end = began + SECONDS * 1000;
    await Promise.all(
      connections.map(async (client) => {
        while (performance.now() < end) {
          await client.query(make());
          count += 1;
        }
      }),
    );
    const rate = (count * 1000) / (performance.now() - began);
    await Promise.all(connections.map((client) => client.end()));
    return rate;
  };
}

const folder = await mkdtemp(join(tmpdir(), 'oncehook-bench-'));
const server = await startServer({ dataDir: join(folder, 'postgres'), settings: { max_connections: '200' } });
try {
  const url = server.urlFor('postgres');
  await migrate(url);
  const admin = new pg.Client(url);
  await admin.connect();
  await admin.query(source);
  const pair = (name: string, make: () => string, base: () => string, clients: number) => {
    process.stderr.write(`${name}, ${clients} clients …\n`);
    return measurePairs(name, load(url, make, clients), load(url, base, clients), PAIRS);
  };
  const ratios = [
    await pair(
      'claim_new',
      () => claimStatement(),
      () => plainStatement(),
      8,
    ),
    await pair(
      'claim_hot_key',
      () => claimStatement('evt_hot'),
      () => plainStatement('evt_hot'),
      64,
    ),
    await pair('verify', verifyStatement, hmacStatement, 8),
  ];
  const { rows } = await admin.query(
    'SELECT count(*)::int AS winners FROM oncehook.webhook_events WHERE idempotency_key = $1 AND attempts = 1',
    [`${SOURCE}:evt_hot`],
  );
  await admin.end();
  console.log(
    `Claim with HMAC ÷ plain INSERT … ON CONFLICT; signature check ÷ bare hmac(). Median of ${PAIRS} pairs.`,
  );
  console.log(`Winners of the hot key: ${rows[0].winners}`);
  printRatios(ratios, { claim_new: 0.5, claim_hot_key: 0.5, verify: 0.75 });
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
