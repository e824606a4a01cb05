import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installN8n } from '../install.ts';
import { freePorts } from './ports.ts';
import { type Running, start } from './process.ts';

const run = promisify(execFile);

export interface N8nOptions {
  /** The database that n8n keeps its own tables in: a Postgres connection URL. */
  databaseUrl: string;
  /** N8N_USER_FOLDER, and where the log goes. */
  folder: string;
  /** N8N_PROXY_HOPS: how many proxies' X-Forwarded-For entries n8n believes. */
  proxyHops?: number;
  /** More of n8n's settings. */
  env?: Record<string, string>;
}

/** Where an n8n lives: plain data, so that test files in other processes can run its commands too. */
export interface Place {
  url: string;
  log: string;
  env: Record<string, string>;
}

/** An n8n of our own. Its data stays in its database and folder over `stop`, `kill` and `start`. */
export interface N8n extends Place {
  /** Milliseconds that the last start took. */
  startedIn: number;
  pid: number;
  /** SIGTERM, as an orderly stop: n8n ends what is running first. */
  stop(): Promise<void>;
  /** SIGKILL to n8n and its task runner, in the middle of whatever they do. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
}

/** Starts an n8n and resolves once its webhooks answer. Throws with the log's end where it does not come up. */
export async function startN8n(options: N8nOptions): Promise<N8n> {
  const { program, node } = await installN8n();
  const [port = 0, brokerPort = 0] = await freePorts(2);
  await mkdir(options.folder, { recursive: true });
  const log = join(options.folder, 'n8n.log');
  const place = { url: `http://127.0.0.1:${port}`, log, env: environment(options, port, brokerPort) };
  let running: Running | undefined;

  const end = async (name: NodeJS.Signals) => {
    running?.signal(name);
    await running?.ended;
    // Whatever n8n left: its task runner ends by itself only when it notices.
    running?.signal('SIGKILL');
    running = undefined;
  };

  const n8n: N8n = {
    ...place,
    startedIn: 0,
    pid: 0,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async start() {
      const began = performance.now();
      running = start(node, [program, 'start'], place.env, log);
      n8n.pid = running.pid;
      await running.wrote(/Editor is now accessible/, 240_000);
      n8n.startedIn = performance.now() - began;
    },
  };
  await n8n.start();
  return n8n;
}

/** Runs an n8n command beside the running n8n, e.g. `import:workflow`. Resolves with what it printed. */
export async function runCommand(place: Place, ...args: string[]): Promise<string> {
  const { program, node } = await installN8n();
  const { stdout, stderr } = await run(node, [program, ...args], { env: place.env, maxBuffer: 64 << 20 });
  return stdout + stderr;
}

function environment(options: N8nOptions, port: number, brokerPort: number): Record<string, string> {
  const database = new URL(options.databaseUrl);
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? options.folder,
    NODE_ENV: 'production',
    NO_COLOR: '1',
    TZ: 'UTC',
    N8N_USER_FOLDER: options.folder,
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_PORT: String(port),
    N8N_RUNNERS_BROKER_PORT: String(brokerPort),
    N8N_PROXY_HOPS: String(options.proxyHops ?? 0),
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: database.hostname,
    DB_POSTGRESDB_PORT: database.port,
    DB_POSTGRESDB_DATABASE: decodeURIComponent(database.pathname.slice(1)),
    DB_POSTGRESDB_USER: decodeURIComponent(database.username),
    DB_POSTGRESDB_PASSWORD: decodeURIComponent(database.password),
    // On a busy machine its first connections take longer than the 20 s that it allows by itself.
    DB_POSTGRESDB_CONNECTION_TIMEOUT: '120000',
    // Without TLS the session cookie would not be sent.
    N8N_SECURE_COOKIE: 'false',
    // Nothing goes out: telemetry, version checks, templates, banners, licence, registries.
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    N8N_DYNAMIC_BANNERS_ENABLED: 'false',
    N8N_HIRING_BANNER_ENABLED: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
    N8N_COMMUNITY_PACKAGES_ENABLED: 'false',
    N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
    N8N_DISABLED_MODULES: 'mcp-registry,instance-ai,quick-connect',
    ...options.env,
  };
}
