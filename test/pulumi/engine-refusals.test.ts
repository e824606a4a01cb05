import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { leaks } from './harness/leaks.ts';
import type { Operation, Settings } from './harness/project.ts';
import { openStage, type Stage, why } from './harness/stage.ts';

const LIMIT_MS = 15_000;

describe.skipIf(!inject('tools'))('what cannot be done is refused at once, with its remedy', () => {
  let stage: Stage;
  let silent: Server;
  let right: { values: Settings; secrets: Settings };
  beforeAll(async () => {
    stage = await openStage(16);
    right = {
      values: { host: '127.0.0.1', port: stage.server.port, sslmode: 'disable', createDatabase: true },
      secrets: { adminPassword: stage.server.admin.password },
    };
    // Takes every connection and never says a word, as a firewall or a wrong port does.
    silent = createServer(() => {}).listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    silent.close();
    await stage.close();
  });
  afterEach(async () => {
    await stage.server.sql('postgres', 'ALTER ROLE admin CREATEDB CREATEROLE');
    await stage.stack.configure(right.values, right.secrets);
  });

  function expectRefusal(run: Operation, remedy: RegExp): void {
    expect(run.code, why(run)).not.toBe(0);
    expect(run.output).toMatch(/remedy: /);
    expect(run.output).toMatch(remedy);
    expect(run.took, why(run)).toBeLessThan(LIMIT_MS);
    // Neither a stack trace nor anything that was made.
    expect(run.output).not.toMatch(/^\s+at .*:\d+:\d+/m);
    expect(run.steps.filter(({ type }) => type.startsWith('postgresql:'))).toEqual([]);
    const { server, secret, project } = stage;
    const secrets = { admin: server.admin.password, signing: secret, passphrase: project.passphrase };
    expect(leaks(run.output, secrets)).toEqual([]);
  }

  test.each([
    ['preview', 'a closed port', { port: 9 }, {}, /port/],
    ['up', 'a wrong password', {}, { adminPassword: 'not-the-password-of-admin' }, /password/],
    ['up', 'an unknown host', { host: 'no-such-host.invalid' }, {}, /host/],
    ['up', 'TLS that the server does not speak', { sslmode: 'require' }, {}, /sslmode/],
    // 192.0.2.0/24 belongs to nobody (RFC 5737); some networks refuse it at once, others drop it.
    ['up', 'an address where nobody answers', { host: '192.0.2.1' }, {}, /host/],
  ] as const)('%s: %s', async (verb, _what, values, secrets, remedy) => {
    await stage.stack.configure(values, secrets);
    expectRefusal(await stage.stack[verb](), remedy);
  });

  test('up: a server that takes the connection and says nothing', async () => {
    await stage.stack.configure({ port: (silent.address() as { port: number }).port });
    expectRefusal(await stage.stack.up(), /firewall/);
  });

  test.each([
    ['CREATEDB', /CREATEDB.*createDatabase false/s],
    ['CREATEROLE', /CREATEROLE.*createRoles false/s],
  ])('up: an admin without %s', async (right, remedy) => {
    await stage.server.sql('postgres', `ALTER ROLE admin NO${right}`);
    expectRefusal(await stage.stack.up(), remedy);
  });

  test('up: somebody else’s database, role, and a wrong setting', async () => {
    const { server, stack } = stage;
    await server.sql('postgres', 'CREATE DATABASE oncehook');
    expectRefusal(await stack.up(), /createDatabase false/);
    await server.sql('postgres', 'DROP DATABASE oncehook', 'CREATE ROLE oncehook_owner');
    expectRefusal(await stack.up(), /WITH ADMIN OPTION/);
    await server.sql('postgres', 'DROP ROLE oncehook_owner');
    await stack.configure({ sslmode: 'prefer' });
    expectRefusal(await stack.up(), /verify-full/);
  });
});
