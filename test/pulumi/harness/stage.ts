import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { PostgresVersion } from '../../../src/ledger/embedded/binaries.ts';
import type { Authority } from './certificate.ts';
import { copyProject, type Project, type Settings, type Stack } from './project.ts';
import { startTestServer, type TestServer } from './server.ts';

/** A server and a stack that is configured for it: what one file of engine tests shares. */
export interface Stage {
  server: TestServer;
  project: Project;
  stack: Stack;
  /** The signing secret of the source `shop`, as its sender has it. */
  secret: string;
  close(): Promise<void>;
}

/** One source with a signature. */
const SOURCES = `project: engine-test
sources:
  shop:
    provider: custom
    secrets: [SHOP_WEBHOOK_SECRET]
`;

export interface StageOptions {
  /** Set on the stack beside what a newcomer would set. */
  settings?: Settings;
  /** The server speaks TLS; its authority is in the project's folder, as `ca.pem`. */
  tls?: Authority;
}

/** Starts a server and makes a stack for it. */
export async function openStage(version: PostgresVersion, options: StageOptions = {}): Promise<Stage> {
  const tools = inject('tools');
  if (!tools) throw new Error('there is no engine: the test should have been skipped');
  const { settings = {}, tls } = options;
  const server = await startTestServer(version, tls ? { tls } : {});
  const project = await copyProject(tools);
  writeFileSync(join(project.folder, 'oncehook.yaml'), SOURCES);
  if (tls) writeFileSync(join(project.folder, 'ca.pem'), tls.ca);
  const secret = `shop-${randomBytes(18).toString('hex')}`;
  const stack = await project.stack();
  await stack.configure(
    {
      target: 'existing',
      host: '127.0.0.1',
      port: server.port,
      sslmode: 'disable',
      adminUser: server.admin.user,
      ...settings,
    },
    { adminPassword: server.admin.password, 'secrets.shop.SHOP_WEBHOOK_SECRET': secret },
  );
  return {
    server,
    project,
    stack,
    secret,
    async close() {
      await project.remove();
      await server.stop();
    },
  };
}

/** What went wrong, for an assertion's message: an engine's output is long. */
export function why({ code, output }: { code: number | null; output: string }): string {
  return `ended with ${code}:\n${output}`;
}
