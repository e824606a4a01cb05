import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Dev, freePort, makeFolder, removeFolder, run, startDev } from './harness.ts';

/** `--stack`, with a command `pulumi` that tells what a file says: the real one is for test/pulumi. */
let folder: string;
let dev: Dev;
let outputs: Record<string, unknown>;
let n8nPassword: string;

beforeAll(async () => {
  folder = makeFolder();
  dev = await startDev(['--port', `${await freePort()}`], { cwd: folder, keep: true });
  const { owner, n8n } = JSON.parse(readFileSync(join(folder, '.oncehook/passwords.json'), 'utf8'));
  n8nPassword = n8n;
  const { port } = dev.report.credential;
  const url = (user: string, password: string) =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/oncehook?uselibpqcompat=true&sslmode=disable`;
  outputs = {
    project: 'trial',
    credential: 'Ledger',
    host: '127.0.0.1',
    port,
    database: 'oncehook',
    user: 'oncehook_n8n',
    password: n8n,
    ssl: 'disable',
    ignoreSslIssues: false,
    databaseUrl: url('oncehook_owner', owner),
    n8nUrl: url('oncehook_n8n', n8n),
    keepData: true,
  };
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'pulumi'),
    `#!/bin/sh
echo "$@" > "${folder}/called"
if [ -f "${folder}/outputs.json" ]; then cat "${folder}/outputs.json"; else echo "error: no stack named 'dev' found" >&2; exit 255; fi
`,
  );
  chmodSync(join(bin, 'pulumi'), 0o755);
  tell(outputs);
});
afterAll(async () => {
  await dev?.stop();
  removeFolder(folder);
});

function tell(told: Record<string, unknown>): void {
  writeFileSync(join(folder, 'outputs.json'), JSON.stringify(told));
}

const oncehook = (args: string[], env: Record<string, string> = {}) =>
  run(args, { cwd: folder, env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, ...env } });

test('generate writes the workflows, and the credential to a file that only this user may read', async () => {
  const { status, stdout, stderr } = await oncehook(['generate', '--stack', 'dev', '--json']);
  expect(status).toBe(0);
  const file = '.oncehook/n8n-credential-dev.txt';
  expect(JSON.parse(stdout).credential).toMatchObject({ name: 'Ledger', host: '127.0.0.1', file });
  expect(stdout + stderr).not.toContain(n8nPassword);
  const path = join(folder, file);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`Password +${n8nPassword}`));
  expect(readFileSync(join(folder, 'called'), 'utf8')).toContain('--stack dev');
  const again = await oncehook(['generate', '--stack', 'dev', '--json']);
  expect(JSON.parse(again.stdout).credential.changed).toEqual([]);
});

test('the verbs of the database work on the stack’s, and leave passwords to Pulumi', async () => {
  const [status, migrate, list, send] = await Promise.all([
    oncehook(['status', '--stack', 'dev', '--json']),
    oncehook(['migrate', '--stack', 'dev', '--json'], { ONCEHOOK_N8N_PASSWORD: 'another' }),
    oncehook(['secrets', 'list', '--stack', 'dev', '--json']),
    oncehook(['send', 'door', '--to-ledger', '--stack', 'dev', '--json']),
  ]);
  for (const ran of [status, migrate, list, send]) expect([ran.status, ran.stderr]).toEqual([0, '']);
  expect(JSON.parse(status.stdout).database).toContain('stack dev');
  expect(JSON.parse(migrate.stdout).role.passwordSet).toBe(false);
  expect(JSON.parse(send.stdout).deliveries).toMatchObject([{ outcome: 'new' }]);
});

test('another project’s stack is refused before anything is done', async () => {
  tell({ ...outputs, project: 'other' });
  const { status, stderr } = await oncehook(['migrate', '--stack', 'dev']);
  tell(outputs);
  expect([status, stderr]).toEqual([2, expect.stringContaining('another project')]);
});

test('what Pulumi cannot tell is told with a remedy', async () => {
  tell({ ...outputs, password: undefined });
  const half = await oncehook(['status', '--stack', 'dev']);
  expect([half.status, half.stderr]).toEqual([2, expect.stringContaining('pulumi up --stack dev')]);
  removeFolder(join(folder, 'outputs.json'));
  const none = await oncehook(['generate', '--stack', 'dev']);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining("no stack named 'dev'")]);
  const absent = await oncehook(['status', '--stack', 'dev'], { PATH: '/nowhere' });
  expect([absent.status, absent.stderr]).toEqual([2, expect.stringContaining('no command pulumi')]);
  tell(outputs);
  const both = await oncehook(['status', '--stack', 'dev', '--database-url-env', 'X']);
  expect(both.status).toBe(2);
});
