import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { type Server, startServer } from '../../src/ledger/embedded/server.ts';
import { migrate } from '../../src/ledger/migrate.ts';
import { addSecret } from '../../src/ledger/secrets.ts';
import { syncSources } from '../../src/ledger/sources.ts';
import { testVersion } from './harness/cluster.ts';
import { sourceRow } from './harness/source-row.ts';

// A server of its own, which logs every statement with its parameters.
let folder: string;
let server: Server;
let client: pg.Client;
const lines: string[] = [];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-logs-')));
  server = await startServer({
    dataDir: join(folder, 'postgres'),
    version: testVersion(),
    durable: false,
    settings: { fsync: 'off', log_statement: 'all', log_min_duration_statement: '0' },
    onLog: (line) => lines.push(line),
  });
  const url = server.urlFor('postgres');
  await migrate(url);
  client = await connect(url);
  await syncSources(client, [sourceRow('shop')]);
});
afterAll(async () => {
  await client.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each([1, 31, 32, 33, 200])('a signing secret of %i bytes arrives, and no log holds it', async (size) => {
  const key = randomBytes(size);
  const name = `secret ${size}`;
  expect(await addSecret(client, { sourceId: 'shop', name, key })).toEqual({ name, change: 'added' });
  const { rows } = await client.query('SELECT secret FROM oncehook.webhook_secrets WHERE name = $1', [name]);
  expect(rows).toEqual([{ secret: key }]);
  // What comes later in the log is told later too.
  await client.query(`SELECT 'end of ${name}'`);
  await expect.poll(() => lines.some((line) => line.includes(`end of ${name}`))).toBe(true);
  const log = lines.join('\n');
  expect(log).toContain(`'${name}'`);
  if (size > 1) expect(log).not.toContain(key.toString('hex'));
});

test('the same secret is known again, and each time it comes under another pad', async () => {
  const key = randomBytes(20);
  const before = lines.length;
  await addSecret(client, { sourceId: 'shop', name: 'first', key });
  expect(await addSecret(client, { sourceId: 'shop', name: 'second', key })).toEqual({
    name: 'first',
    change: 'kept',
  });
  await client.query("SELECT 'end of pads'");
  await expect.poll(() => lines.some((line) => line.includes('end of pads'))).toBe(true);
  const sent = lines.slice(before).flatMap((line) => line.match(/\$3 = '\\x[0-9a-f]{40}'/g) ?? []);
  expect(new Set(sent).size).toBe(2);
});
