import * as pulumi from '@pulumi/pulumi';
import { expect, test } from 'vitest';
import { OncehookDatabase, type OncehookDatabaseArgs } from '../../infra/database.ts';
import type { Endpoint } from '../../infra/endpoint.ts';
import { build, isSecret, type Made, plain, unwrapped } from './program/mocks.ts';

const endpoint: Endpoint = {
  host: 'db.example',
  port: 5432,
  sslmode: 'verify-full',
  admin: { user: 'root', password: pulumi.secret('root’s word') },
  maintenanceDatabase: 'postgres',
  dependsOn: [],
};

const database = (args: Partial<OncehookDatabaseArgs> = {}) =>
  build(() => new OncehookDatabase('hooks', { endpoint, ...args }));

const names = (resources: Made[]) => resources.map(({ name, type }) => `${type} ${name}`);

/** The names of the resources that one waits for. */
async function waits({ opts }: Made): Promise<string[]> {
  const listed = (await plain(opts.dependsOn as pulumi.Input<pulumi.Resource[]>)) ?? [];
  const urns = await Promise.all(listed.map(({ urn }) => plain(urn)));
  return urns.map((urn) => urn.split('::').at(-1) ?? '');
}

test('the children, in the order in which they are made', async () => {
  const { made } = await database();
  expect(names(made)).toEqual([
    'oncehook:infra:Database hooks',
    'pulumi:providers:postgresql hooks-admin',
    'postgresql:index/role:Role hooks-owner',
    'pulumi-nodejs:dynamic/oncehook:RoleLogin hooks-owner-login',
    'postgresql:index/role:Role hooks-n8n',
    'pulumi-nodejs:dynamic/oncehook:RoleLogin hooks-n8n-login',
    'postgresql:index/database:Database hooks-database',
    'pulumi:providers:postgresql hooks-as-owner',
    'postgresql:index/grant:Grant hooks-grant-public',
    'postgresql:index/grant:Grant hooks-grant-n8n',
    'postgresql:index/defaultPrivileges:DefaultPrivileges hooks-default-function',
    'postgresql:index/defaultPrivileges:DefaultPrivileges hooks-default-type',
  ]);
  for (const { urn, name } of made.slice(1)) {
    expect(urn, name).toContain('::oncehook:infra:Database$');
  }
});

test('the plugin logs in with an explicit sslmode, not as superuser, and gives up soon', async () => {
  const { one } = await database();
  const { inputs } = one('hooks-admin');
  expect(inputs).toMatchObject({
    host: 'db.example',
    port: '5432',
    username: 'root',
    database: 'postgres',
    sslmode: 'verify-full',
    superuser: 'false',
    connectTimeout: '10',
  });
  expect([isSecret(inputs['password']), unwrapped(inputs['password'])]).toEqual([true, 'root’s word']);
  const { inputs: owner } = one('hooks-as-owner');
  expect(owner).toMatchObject({ username: 'oncehook_owner', database: 'oncehook', superuser: 'false' });
  expect([isSecret(owner['password']), unwrapped(owner['password'])]).toEqual([true, 'made by the provider']);
});

test('roles may log in and nothing else; their passwords never pass through the plugin', async () => {
  const { one } = await database();
  const plainRole = { login: true, superuser: false, createDatabase: false, createRole: false };
  expect(one('hooks-owner').inputs).toEqual({ name: 'oncehook_owner', ...plainRole });
  expect(one('hooks-n8n').inputs).toEqual({
    name: 'oncehook_n8n',
    ...plainRole,
    statementTimeout: 20_000,
    idleInTransactionSessionTimeout: 30_000,
  });
  for (const name of ['hooks-owner', 'hooks-n8n', 'hooks-database']) {
    expect(one(name).provider).toContain('::hooks-admin::');
  }
});

test('a login knows the admin’s address as a secret, and tells its password as one', async () => {
  const { one, result } = await database({ passwordVersion: 3 });
  const { inputs, opts } = one('hooks-n8n-login');
  expect(isSecret(inputs['connection'])).toBe(true);
  expect(unwrapped(inputs['connection'])).toBe(
    `postgresql://root:root%E2%80%99s%20word@db.example:5432/postgres?uselibpqcompat=true&sslmode=verify-full`,
  );
  expect(inputs).toMatchObject({ role: 'oncehook_n8n', version: 3, settings: { lock_timeout: '2000' } });
  expect(inputs).not.toHaveProperty('password');
  expect(opts.additionalSecretOutputs).toEqual(['password']);
  for (const output of [result.connection, result.n8nConnection]) {
    expect(await pulumi.isSecret(output)).toBe(true);
  }
  expect(await plain(result.n8nConnection)).toContain('//oncehook_n8n:made%20by%20the%20provider@db.example');
});

test('a password that was given is taken, as a secret', async () => {
  const { one } = await database({ n8nPassword: 'given' });
  const { password } = one('hooks-n8n-login').inputs;
  expect([isSecret(password), unwrapped(password)]).toEqual([true, 'given']);
  expect(one('hooks-owner-login').inputs).not.toHaveProperty('password');
});

test('grants are made by the database’s owner, each after the one before', async () => {
  const { one } = await database();
  expect(await waits(one('hooks-database'))).toEqual(['hooks-owner-login', 'hooks-n8n-login']);
  const chain = [
    'hooks-database',
    'hooks-grant-public',
    'hooks-grant-n8n',
    'hooks-default-function',
    'hooks-default-type',
  ];
  for (const [index, name] of chain.entries()) {
    if (index === 0) continue;
    expect(one(name).provider).toContain('::hooks-as-owner::');
    expect(await waits(one(name))).toEqual([chain[index - 1]]);
  }
  expect(one('hooks-grant-public').inputs).toEqual({
    database: 'oncehook',
    role: 'public',
    objectType: 'database',
    privileges: [],
  });
  expect(one('hooks-default-function').inputs).toEqual({
    database: 'oncehook',
    owner: 'oncehook_owner',
    role: 'public',
    objectType: 'function',
    privileges: [],
  });
});

test('keepData decides what a destroy leaves; passwords go in any case', async () => {
  const kept = await database();
  const gone = await database({ keepData: false });
  for (const name of [
    'hooks-owner',
    'hooks-n8n',
    'hooks-database',
    'hooks-grant-n8n',
    'hooks-default-type',
  ]) {
    expect([kept.one(name).opts.retainOnDelete, gone.one(name).opts.retainOnDelete]).toEqual([true, false]);
  }
  expect(kept.one('hooks-n8n-login').opts.retainOnDelete).toBe(false);
});

test('what was found is taken over, and the rest is made', async () => {
  const { one } = await database({ found: { database: true, roles: new Set(['oncehook_n8n']) } });
  expect(one('hooks-database').opts.import).toBe('oncehook');
  expect(one('hooks-n8n').opts.import).toBe('oncehook_n8n');
  expect(one('hooks-owner').opts.import).toBeUndefined();
});

test('nothing inside dials a server that goes in the same run, nor one that is not ready', async () => {
  class Server extends pulumi.ComponentResource {
    constructor() {
      super('test:index:Server', 'server');
      this.registerOutputs();
    }
  }
  const { made } = await build(() => {
    const server = new Server();
    const args = { endpoint: { ...endpoint, dependsOn: [server], deletedWith: server } };
    return new OncehookDatabase('hooks', args);
  });
  const inside = made.filter(({ type }) => /^(postgresql|pulumi-nodejs)/.test(type));
  expect(inside).toHaveLength(9);
  for (const { opts, name } of inside) {
    expect(await plain((opts.deletedWith as pulumi.Resource).urn), name).toContain('::server');
  }
  for (const role of inside.filter(({ type }) => type.endsWith(':Role'))) {
    expect(await waits(role)).toEqual(['server']);
  }
});

test('in a database that was there the admin grants, and the owner sets its own defaults', async () => {
  const { made, one } = await database({ database: 'shop', createDatabase: false });
  expect(names(made).join()).not.toContain('index/database');
  expect(one('hooks-grant-owner').provider).toContain('::hooks-admin::');
  expect(one('hooks-default-type').provider).toContain('::hooks-as-owner::');
});

test('where all is given there is nothing to make, and the log says what that costs', async () => {
  const { made, logs, result } = await database({ createDatabase: false, createRoles: false });
  expect(names(made)).toEqual(['oncehook:infra:Database hooks']);
  expect(logs.map(({ severity }) => severity)).toEqual(['warn', 'warn']);
  expect(await plain(result.n8nConnection)).toContain('//root:');
  const own = await database({ createDatabase: false, createRoles: false, n8nPassword: 'given' });
  expect(await plain(own.result.n8nConnection)).toContain('//oncehook_n8n:given@');
});
