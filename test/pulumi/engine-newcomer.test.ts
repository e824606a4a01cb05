import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { deliverSigned } from './harness/n8n.ts';
import { copyProject, type Project } from './harness/project.ts';
import { startTestServer, type TestServer } from './harness/server.ts';

const tools = inject('tools');

/** The way of docs/provisioning.md, command for command, on this repository's own example of a configuration. */
describe.skipIf(!tools)('a newcomer, with the command line alone', () => {
  let server: TestServer;
  let project: Project;
  beforeAll(async () => {
    if (!tools) throw new Error('no tools');
    server = await startTestServer(18);
    project = await copyProject(tools);
  });
  afterAll(async () => {
    await project?.remove();
    await server?.stop();
  });

  async function pulumi(...args: string[]): Promise<string> {
    const ran = await project.pulumi(...args);
    expect(ran.code, `pulumi ${args.join(' ')}:\n${ran.output}`).toBe(0);
    return ran.output;
  }

  const call = promisify(execFile);

  async function oncehook(...args: string[]): Promise<string> {
    const options = { cwd: project.folder, env: project.env };
    return (await call(process.execPath, ['src/cli/main.ts', ...args], options)).stdout;
  }

  test('gets from an empty stack to workflows and a database that takes events', async () => {
    await pulumi('stack', 'init', 'dev');
    for (const [key, value] of Object.entries({
      target: 'existing',
      host: '127.0.0.1',
      port: String(server.port),
      sslmode: 'disable',
      adminUser: server.admin.user,
    })) {
      await pulumi('config', 'set', key, value);
    }
    await pulumi('config', 'set', '--secret', 'adminPassword', server.admin.password);
    await pulumi(
      'config',
      'set',
      '--secret',
      '--path',
      'secrets.shop.SHOP_WEBHOOK_SECRET',
      'shop-secret-of-the-sender',
    );
    const up = await pulumi('up', '--yes', '--non-interactive');
    // The preview before it says what will be done to the database.
    expect(up).toContain('0001_tables');

    const generated = JSON.parse(await oncehook('generate', '--stack', 'dev', '--json'));
    expect(JSON.parse(readFileSync(join(project.folder, 'workflows/shop.json'), 'utf8'))).toHaveProperty(
      'nodes',
    );
    const credential = readFileSync(join(project.folder, generated.credential.file), 'utf8');
    const password = /^Password +(\S+)$/m.exec(credential)?.[1] ?? '';
    const { database, user } = generated.credential as { database: string; user: string };
    const n8n = await connect(server.url(database, { user, password }));
    expect((await deliverSigned(n8n, 'shop-secret-of-the-sender', 'evt-1')).outcome).toBe('new');
    await n8n.end();
    expect(await oncehook('status', '--stack', 'dev')).toContain('shop');
  });

  test('sends to the ledger with the secret of the stack, by the line that the refusal gives', async () => {
    const expected = ['--times', '3', '--expect', 'new,duplicate,duplicate'];
    const send = ['send', 'shop', '--to-ledger', '--stack', 'dev', ...expected];
    const refusal: { stderr: string } = await oncehook(...send).then(
      () => expect.unreachable(),
      (error) => error,
    );
    const [, line = ''] = /(export SHOP_WEBHOOK_SECRET=.*)/.exec(refusal.stderr) ?? [];
    const options = { cwd: project.folder, env: { ...project.env, NODE: process.execPath } };
    await call('sh', ['-ec', `${line}; "$NODE" src/cli/main.ts "$@"`, 'sh', ...send], options);
  });

  test('a change of oncehook.yaml reaches the database with the next up', async () => {
    writeFileSync(
      join(project.folder, 'oncehook.yaml'),
      'project: shop\nsources:\n  other:\n    provider: custom\n    secrets: [OTHER_SECRET]\n',
    );
    await pulumi('config', 'rm', '--path', 'secrets.shop');
    await pulumi('up', '--yes', '--non-interactive', '--skip-preview');
    const rows = await server.sql('oncehook', 'SELECT id, active FROM oncehook.webhook_sources ORDER BY id');
    expect(rows).toContainEqual({ id: 'other', active: true });
    expect(rows).toContainEqual({ id: 'shop', active: false });
  });
});
