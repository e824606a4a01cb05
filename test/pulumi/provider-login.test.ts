import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LoginProvider } from '../../infra/dynamic.ts';
import type { LoginInputs } from '../../infra/work/login.ts';
import { connect } from '../../src/ledger/connect.ts';
import { testVersion } from '../postgres/harness/cluster.ts';
import { startTestServer, type TestServer } from './harness/server.ts';
import { type ProviderProcess, startProvider } from './program/provider-process.ts';

let server: TestServer;
let provider: ProviderProcess;
let inputs: LoginInputs;

beforeAll(async () => {
  server = await startTestServer(testVersion());
  provider = await startProvider(new LoginProvider());
});
afterAll(async () => {
  await provider.stop();
  await server.stop();
});
beforeEach(async () => {
  const admin = await connect(server.url('postgres', server.admin));
  await admin.query('CREATE ROLE clerk LOGIN');
  await admin.end();
  const connection = server.url('postgres', server.admin);
  inputs = { connection, role: 'clerk', settings: { lock_timeout: '2000' }, version: 1 };
});
afterEach(() => server.wipe());

/** Whether the role gets in with a password. */
const entersWith = (password: unknown) =>
  connect(server.url('postgres', { user: 'clerk', password: String(password) })).then(
    async (client) => {
      await client.end();
      return true;
    },
    () => false,
  );

test('create makes a password that nobody could guess, and pins the settings', async () => {
  const { id, outs } = await provider.create({ ...inputs });
  expect(id).toBe('clerk');
  expect(outs).toEqual({
    role: 'clerk',
    settings: { lock_timeout: '2000' },
    version: 1,
    password: expect.any(String),
  });
  expect(outs['password']).toMatch(/^[0-9a-f]{48}$/);
  expect(await entersWith(outs['password'])).toBe(true);
  expect(await server.sql('postgres', "SELECT rolconfig FROM pg_roles WHERE rolname = 'clerk'")).toEqual([
    { rolconfig: ['lock_timeout=2000'] },
  ]);
  expect((await provider.create({ ...inputs })).outs['password']).not.toBe(outs['password']);
});

test('the password stays over runs, until a new one is asked for or given', async () => {
  const { outs } = await provider.create({ ...inputs });
  expect(await provider.diff(outs, { ...inputs, connection: 'another' })).toBe(false);
  const kept = await provider.update(outs, { ...inputs, settings: { lock_timeout: '1000' } });
  expect(kept['password']).toBe(outs['password']);

  expect(await provider.diff(outs, { ...inputs, version: 2 })).toBe(true);
  const next = await provider.update(outs, { ...inputs, version: 2 });
  expect(await entersWith(outs['password'])).toBe(false);
  expect(await entersWith(next['password'])).toBe(true);

  expect(await provider.diff(next, { ...inputs, version: 2, password: 'chosen' })).toBe(true);
  const chosen = await provider.update(next, { ...inputs, version: 2, password: 'chosen' });
  expect(await provider.diff(chosen, { ...inputs, version: 2, password: 'chosen' })).toBe(false);
  expect(await entersWith('chosen')).toBe(true);
  // What is no longer given is kept, not made anew.
  expect(await provider.diff(chosen, { ...inputs, version: 2 })).toBe(false);
});

test('no log of the server and no word of the provider holds a password', async () => {
  const { outs } = await provider.create({ ...inputs, password: 'never-in-a-log' });
  await provider.update(outs, { ...inputs, version: 2 });
  await expect.poll(() => server.log().match(/SCRAM-SHA-256\$/g)?.length).toBeGreaterThanOrEqual(2);
  expect(server.log() + provider.written()).not.toContain('never-in-a-log');
});

test('a role that the admin may not change is refused with what to run', async () => {
  await server.sql('postgres', 'ALTER ROLE admin NOCREATEROLE');
  try {
    await expect(provider.create({ ...inputs })).rejects.toThrow(/clerk[\s\S]*CREATEROLE/);
  } finally {
    await server.sql('postgres', 'ALTER ROLE admin CREATEROLE');
  }
});
