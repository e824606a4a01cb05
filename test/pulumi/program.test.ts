import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { afterAll, beforeAll, expect, test } from 'vitest';
import program from '../../infra/index.ts';
import { testVersion } from '../postgres/harness/cluster.ts';
import { startTestServer, type TestServer } from './harness/server.ts';
import { build, plain } from './program/mocks.ts';

let server: TestServer;
let folder: string;
const secret = ['adminPassword', 'secrets'];

beforeAll(async () => {
  server = await startTestServer(testVersion());
  folder = mkdtempSync(join(tmpdir(), 'oncehook-program-'));
  writeFileSync(
    join(folder, 'oncehook.yaml'),
    'project: trial\ncredential: Ledger\nsources:\n  shop: { provider: custom, secrets: [SHOP_SECRET] }\n',
  );
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

const run = (change: Record<string, string> = {}) =>
  build(program, {
    config: {
      target: 'existing',
      host: '127.0.0.1',
      port: String(server.port),
      sslmode: 'disable',
      adminUser: 'admin',
      adminPassword: server.admin.password,
      configFile: join(folder, 'oncehook.yaml'),
      secrets: '{"shop":{"SHOP_SECRET":"hushed"}}',
      ...change,
    },
    secret,
  });

test('the whole of a stack is two components', async () => {
  const { made } = await run();
  const components = made.filter(({ type }) => type.startsWith('oncehook:'));
  expect(components.map(({ type, name }) => `${type} ${name}`)).toEqual([
    'oncehook:infra:Database oncehook',
    'oncehook:infra:Schema oncehook',
  ]);
});

test('the outputs are the fields of n8n’s credential; what is a secret is told as one', async () => {
  const outputs = (await run()).result as Record<string, pulumi.Input<unknown>>;
  const told = Object.fromEntries(
    await Promise.all(
      Object.entries(outputs).map(async ([key, value]) => {
        const output = pulumi.output(value);
        return [key, (await pulumi.isSecret(output)) ? 'secret' : await plain(output)];
      }),
    ),
  );
  expect(told).toEqual({
    credential: 'Ledger',
    host: '127.0.0.1',
    database: 'oncehook',
    user: 'oncehook_n8n',
    password: 'secret',
    ignoreSslIssues: false,
    ssl: 'disable',
    port: server.port,
    project: 'trial',
    databaseUrl: 'secret',
    n8nUrl: 'secret',
    migrations: ['0001_tables'],
    keepData: true,
  });
});

test.each([
  [{ hosst: 'x' }, 'Did you mean host?'],
  [{ configFile: 'nowhere.yaml' }, 'nowhere.yaml: There is no such file'],
  [{ secrets: '{"shp":{}}' }, 'Did you mean shop?'],
  [{ adminPassword: 'another' }, 'refuses the password'],
])('what is wrong leaves the program as one that Pulumi prints without a stack: %j', async (change, text) => {
  const error: unknown = await run(change).catch((reason: unknown) => reason);
  expect(pulumi.RunError.isInstance(error), String(error)).toBe(true);
  expect((error as Error).message).toContain(text);
});
