import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { connect } from '../../../src/ledger/connect.ts';
import type { PostgresVersion } from '../../../src/ledger/embedded/binaries.ts';
import { startServer } from '../../../src/ledger/embedded/server.ts';
import { migrate } from '../../../src/ledger/migrate.ts';
import { ensureN8nRole, N8N_ROLE } from '../../../src/ledger/n8n-role.ts';

/** The role that migrates in tests: not a superuser, as on every managed Postgres. */
export const OWNER_ROLE = 'oncehook_test_owner';
/** Migrated once, then copied. */
const TEMPLATE = 'oncehook_test_template';

/** How the tests reach the server; plain data, so that it passes from the global setup to the workers. */
export interface Cluster {
  /** 14, 16 or 18; what the server says where it is not ours. */
  version: number;
  /** As superuser (or as the role of ONCEHOOK_TEST_DATABASE_URL), to the database `postgres`. */
  adminUrl: string;
  ownerPassword: string;
  n8nPassword: string;
  template: string;
}

export interface RunningCluster {
  cluster: Cluster;
  stop(): Promise<void>;
}

/**
 * One server for a whole run: embedded, in a temporary folder, without waiting for the disk; or the one
 * that ONCEHOOK_TEST_DATABASE_URL names, of which only databases and roles with test names are touched
 * (and `oncehook_n8n`: use a server that is for tests alone).
 */
export async function startCluster(settings: Record<string, string> = {}): Promise<RunningCluster> {
  const given = process.env['ONCEHOOK_TEST_DATABASE_URL'];
  if (given) return { cluster: await prepare(given), stop: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'oncehook-test-'));
  const server = await startServer({
    dataDir: join(folder, 'postgres'),
    version: testVersion(),
    durable: false,
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      max_connections: '400',
      shared_buffers: '128MB',
      max_wal_size: '2GB',
      autovacuum: 'on',
      ...settings,
    },
  });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { cluster: await prepare(server.urlFor('postgres')), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The major version that ONCEHOOK_TEST_POSTGRES asks for; 18 where unset. */
export function testVersion(): PostgresVersion {
  const wanted = process.env['ONCEHOOK_TEST_POSTGRES'] ?? '18';
  if (wanted === '14' || wanted === '16' || wanted === '18') return Number(wanted) as PostgresVersion;
  throw new Error(`ONCEHOOK_TEST_POSTGRES=${wanted}: expected 14, 16 or 18`);
}

/** The URL of another database, and of another role, on the same server. */
export function urlOf(cluster: Cluster, database: string, role: 'admin' | 'owner' | 'n8n' = 'owner'): string {
  const url = new URL(cluster.adminUrl);
  url.pathname = `/${database}`;
  if (role !== 'admin') {
    url.username = role === 'owner' ? OWNER_ROLE : N8N_ROLE;
    url.password = role === 'owner' ? cluster.ownerPassword : cluster.n8nPassword;
  }
  return url.href;
}

async function prepare(adminUrl: string): Promise<Cluster> {
  const password = () => randomBytes(18).toString('hex');
  const admin = await connect(adminUrl);
  const cluster: Cluster = {
    version: 0,
    adminUrl,
    ownerPassword: password(),
    n8nPassword: password(),
    template: TEMPLATE,
  };
  try {
    const { rows } = await admin.query(
      "SELECT current_setting('server_version_num')::int / 10000 AS version",
    );
    cluster.version = rows[0].version;
    await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
    const known = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [OWNER_ROLE]);
    await admin.query(
      `${known.rowCount ? 'ALTER' : 'CREATE'} ROLE ${OWNER_ROLE}
       LOGIN CREATEROLE CREATEDB NOSUPERUSER PASSWORD ${pg.escapeLiteral(cluster.ownerPassword)}`,
    );
  } finally {
    await admin.end();
  }
  await makeTemplate(cluster);
  return cluster;
}

async function makeTemplate(cluster: Cluster): Promise<void> {
  const maker = await connect(urlOf(cluster, 'postgres'));
  await maker.query(`CREATE DATABASE ${TEMPLATE}`);
  await maker.end();
  await migrate(urlOf(cluster, TEMPLATE));
  const owner = await connect(urlOf(cluster, TEMPLATE));
  try {
    await ensureN8nRole(owner, { password: cluster.n8nPassword });
  } finally {
    await owner.end();
  }
}
