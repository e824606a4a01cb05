import { createServer } from 'node:net';
import * as pulumi from '@pulumi/pulumi';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DatabaseParts } from '../../infra/database-plan.ts';
import type { Endpoint } from '../../infra/endpoint.ts';
import { inspectServer } from '../../infra/inspect.ts';
import { testVersion } from '../postgres/harness/cluster.ts';
import { startPooler } from '../postgres/harness/pooler.ts';
import { startTestServer, type TestServer } from './harness/server.ts';
import { build } from './program/mocks.ts';

let server: TestServer;
let endpoint: Endpoint;

beforeAll(async () => {
  server = await startTestServer(testVersion());
});
afterAll(() => server.stop());
beforeEach(() => {
  endpoint = {
    host: '127.0.0.1',
    port: server.port,
    sslmode: 'disable',
    admin: { user: 'admin', password: pulumi.secret(server.admin.password) },
    maintenanceDatabase: 'postgres',
    dependsOn: [],
  };
});
afterEach(() => server.wipe());

const inspect = (parts: DatabaseParts = {}, change: Partial<Endpoint> = {}, preview = false) =>
  build(() => inspectServer({ ...endpoint, ...change }, parts), { preview });

/** The text of what is wrong. */
async function refusal(...args: Parameters<typeof inspect>): Promise<string> {
  const error: unknown = await inspect(...args).catch((reason: unknown) => reason);
  expect(pulumi.RunError.isInstance(error), String(error)).toBe(true);
  expect((error as Error).message).not.toContain(server.admin.password);
  return (error as Error).message;
}

async function asAdmin(...statements: string[]): Promise<void> {
  await server.sql('postgres', 'SET ROLE admin', ...statements);
}

test('an empty server: nothing is found, and nothing stands against it', async () => {
  expect((await inspect()).result).toEqual({ database: false, roles: new Set() });
});

test('what an earlier run made is found', async () => {
  await server.sql('postgres', ...made('oncehook'));
  expect((await inspect()).result).toEqual({
    database: true,
    roles: new Set(['oncehook_owner', 'oncehook_n8n']),
  });
});

/** As the admin of a stack leaves them. */
function made(database: string): string[] {
  return [
    'SET ROLE admin',
    `CREATE ROLE ${database}_owner LOGIN`,
    'CREATE ROLE oncehook_n8n LOGIN',
    'RESET ROLE',
    `CREATE DATABASE ${database} OWNER ${database}_owner`,
    `GRANT CONNECT ON DATABASE ${database} TO oncehook_n8n`,
  ];
}

test('missing rights are told all at once, each with the statement or the setting that mends it', async () => {
  await server.sql('postgres', 'ALTER ROLE admin NOCREATEDB NOCREATEROLE');
  onTestFinished(async () => void (await server.sql('postgres', 'ALTER ROLE admin CREATEDB CREATEROLE')));
  const message = await refusal();
  for (const text of ['CREATEDB', 'createDatabase false', 'CREATEROLE', 'createRoles false']) {
    expect(message).toContain(text);
  }
});

test('a role that another database of the server uses is not taken from it', async () => {
  await server.sql('postgres', ...made('prod'));
  const message = await refusal({ database: 'dev' });
  expect(message).toContain('"oncehook_n8n" is in use in the database "prod"');
  // Its own stack goes on, whatever came beside it.
  await server.sql('postgres', 'CREATE DATABASE other', 'GRANT CONNECT ON DATABASE other TO oncehook_n8n');
  expect((await inspect({ database: 'prod' })).result).toMatchObject({ database: true });
});

test('a role that somebody else made is not changed behind their back', async () => {
  await server.sql('postgres', 'CREATE ROLE oncehook_n8n LOGIN');
  if (testVersion() >= 16) {
    expect(await refusal()).toMatch(/"admin" may not change it[\s\S]*WITH ADMIN OPTION/);
  } else {
    // Before Postgres 16 CREATEROLE was enough for every role.
    expect((await inspect()).result?.roles.has('oncehook_n8n')).toBe(true);
  }
});

test('a database of the name that belongs to somebody else: the setting that uses it as it is', async () => {
  await server.sql('postgres', 'CREATE DATABASE oncehook');
  expect(await refusal()).toContain('createDatabase false');
  expect(await refusal({ createDatabase: false })).toContain('WITH GRANT OPTION');
  await server.sql('postgres', 'ALTER DATABASE oncehook OWNER TO admin');
  expect((await inspect({ createDatabase: false })).result).toMatchObject({ database: true });
});

test('a schema that another role migrated is left to it, and n8n keeps its password', async () => {
  await server.sql('postgres', 'CREATE DATABASE given OWNER admin');
  await server.sql('given', 'SET ROLE admin', 'CREATE SCHEMA oncehook');
  const parts = { database: 'given', createDatabase: false };
  const change = { maintenanceDatabase: 'given' };
  expect(await refusal(parts, change)).toContain('createRoles false');
  expect((await inspect({ ...parts, createRoles: false }, change)).result).toMatchObject({ database: true });
  await asAdmin('CREATE ROLE given_owner');
  expect(await refusal(parts, change)).toContain('createRoles false');
  await server.sql('given', 'ALTER SCHEMA oncehook OWNER TO given_owner');
  expect((await inspect(parts, change)).result).toMatchObject({ roles: new Set(['given_owner']) });
});

test('what must be there and is not', async () => {
  expect(await refusal({ createDatabase: false })).toContain('There is no database "oncehook"');
  await asAdmin('CREATE DATABASE oncehook');
  const given = { createDatabase: false, createRoles: false };
  expect(await refusal({ ...given, n8nPassword: 'x' })).toContain('There is no role "oncehook_n8n"');
  expect((await inspect(given)).result).toMatchObject({ database: true });
});

test.each<[string, RegExp, () => Partial<Endpoint>]>([
  ['a wrong password', /refuses the password/, () => ({ admin: { user: 'admin', password: 'another' } })],
  ['a closed port', /Nothing listens/, () => ({ port: 1 })],
  ['an unknown host', /unknown/, () => ({ host: 'nowhere.invalid' })],
  ['TLS where there is none', /does not speak TLS/, () => ({ sslmode: 'require' })],
  ['a database that is not there', /no database "nope"/, () => ({ maintenanceDatabase: 'nope' })],
])('%s is told with its remedy', async (_, expected, change) => {
  const message = await refusal({}, change());
  expect(message).toMatch(expected);
  expect(message).toContain('remedy:');
});

test('a server that does not answer is given up soon', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const began = performance.now();
  const port = typeof address === 'object' && address ? address.port : 0;
  expect(await refusal({}, { port })).toMatch(/does not answer[\s\S]*remedy/);
  expect(performance.now() - began).toBeLessThan(12_000);
});

test('a transaction pooler is refused, with the port to use', async () => {
  const pooler = await startPooler(server.url('postgres', server.admin));
  onTestFinished(() => pooler.close());
  expect(await refusal({}, { port: Number(new URL(pooler.url).port) })).toMatch(/pooler[\s\S]*5432/);
});

test('a preview says nothing of a server that it cannot know, and warns of a private one of this stack', async () => {
  const host = pulumi.output('x') as pulumi.Output<string> & { isKnown: Promise<boolean> };
  host.isKnown = Promise.resolve(false);
  expect(await inspect({}, { host }, true)).toMatchObject({ result: undefined, logs: [] });

  class Server extends pulumi.ComponentResource {
    constructor() {
      super('test:index:Server', 'server');
      this.registerOutputs();
    }
  }
  const ofThisStack = (preview: boolean) =>
    build(() => inspectServer({ ...endpoint, port: 1, deletedWith: new Server() }, {}), { preview });
  const { result, logs } = await ofThisStack(true);
  expect([result, logs.map(({ severity }) => severity)]).toEqual([undefined, ['warn']]);
  await expect(ofThisStack(false)).rejects.toThrow('Nothing listens');
});
