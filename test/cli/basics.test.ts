import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { verbs } from '../../src/cli/verbs.ts';
import { CONFIG, endOf, makeFolder, removeFolder, run, start } from './harness.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder);
});

function folderWith(config?: string): string {
  const folder = makeFolder(config);
  folders.push(folder);
  return folder;
}

test('every verb has a help with an example, --json and --config', async () => {
  const cwd = folderWith('');
  const groups = {
    secrets: ['secrets add', 'secrets list'],
    providers: ['providers list', 'providers search', 'providers show'],
  };
  const single = Object.keys(verbs).filter((name) => !Object.hasOwn(groups, name));
  const names = [...single, ...Object.values(groups).flat()];
  const helps = await Promise.all(names.map((name) => run([...name.split(' '), '--help'], { cwd })));
  for (const { status, stdout, stderr } of helps) {
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/--json[\s\S]*--config[\s\S]*Example/);
  }
  const { stdout } = await run(['--help'], { cwd });
  for (const name of Object.keys(verbs)) expect(stdout).toContain(name);
});

test.each([
  ['an unknown verb', ['generat']],
  ['an unknown verb, though help is asked for', ['generat', '--help']],
  ['an unknown verb of secrets, though help is asked for', ['secrets', 'lst', '-h']],
  ['help of an unknown verb', ['help', 'generat']],
  ['an unknown option', ['generate', '--chek']],
  ['an argument too many', ['generate', 'all']],
  ['no verb of secrets', ['secrets']],
  ['a value that an option does not take', ['send', 'bank', '--times', '0']],
  ['no such source', ['send', 'nobody']],
  ['no configuration', ['status', '--config', 'missing.yaml']],
  ['neither a database nor a development one', ['status']],
  ['no secret', ['send', 'bank']],
  ['no such outcome', ['send', 'door', '--expect', 'new,dupe']],
])('wrong use ends with status 2: %s', async (_, args) => {
  const { status, stdout, stderr } = await run(args, { cwd: folderWith() });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).not.toMatch(/\n {4}at /);
});

test('every issue of the configuration is told, as JSON too, and dev makes nothing', async () => {
  const cwd = folderWith('project: Shop!\nsources:\n  a: { provider: nobody, lease: 1 }\n');
  const { status, stdout, stderr } = await run(['dev', '--once', '--json'], { cwd });
  expect(status).toBe(2);
  const { ok, error } = JSON.parse(stdout);
  expect(ok).toBe(false);
  expect(error.issues.map(({ path }: { path: string }) => path)).toEqual([
    'project',
    'sources.a.provider',
    'sources.a.lease',
  ]);
  expect(stderr).toContain('oncehook.yaml:1');
  expect(existsSync(join(cwd, '.oncehook'))).toBe(false);
});

test('generate writes, then changes nothing; --check says when something is out of date; edits are kept', async () => {
  const cwd = folderWith();
  expect((await run(['generate', '--check'], { cwd })).status).toBe(1);
  expect(existsSync(join(cwd, 'workflows'))).toBe(false);
  const first = JSON.parse((await run(['generate', '--json'], { cwd })).stdout);
  expect(first.files.map(({ state }: { state: string }) => state)).toEqual(['new', 'new', 'new', 'new']);
  expect((await run(['generate', '--check'], { cwd })).status).toBe(0);

  const file = join(cwd, 'workflows/bank.json');
  const workflow = readFileSync(file, 'utf8');
  // The user's: kept, and no reason to write.
  const mine = workflow.replace('"maxTries": 5', '"maxTries": 2');
  writeFileSync(file, mine);
  expect((await run(['generate', '--check'], { cwd })).status).toBe(0);
  // A wire of the gate that was cut: the user is asked.
  writeFileSync(file, mine.replace('"node": "Raw body"', '"node": "Answer"'));
  expect((await run(['generate', '--check'], { cwd })).status).toBe(1);
  const asked = await run(['generate', '--json'], { cwd });
  expect([asked.status, JSON.parse(asked.stdout)]).toMatchObject([
    1,
    { ok: false, written: false, import: [] },
  ]);
  expect(
    JSON.parse(asked.stdout).files.flatMap(({ conflicts }: { conflicts: object[] }) => conflicts)[0],
  ).toMatchObject({ node: 'Webhook' });
  expect((await run(['generate', '--force'], { cwd })).status).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(mine);

  const exported = join(cwd, 'export.json');
  writeFileSync(exported, mine.replace('"maxTries": 2', '"maxTries": 3'));
  expect((await run(['generate', '--merge', exported], { cwd })).status).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('"maxTries": 3');
  expect((await run(['generate', '--merge', file.replace('bank', 'none')], { cwd })).status).toBe(2);
});

test('a source under another name: generate warns, removes the old file, and names the imports', async () => {
  const cwd = folderWith();
  await run(['generate'], { cwd });
  writeFileSync(join(cwd, 'oncehook.yaml'), CONFIG.replace('  shop:', '  myshop:'));
  const { status, stdout, stderr } = await run(['generate', '--json'], { cwd });
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    leftOver: [{ path: 'workflows/shop.json' }],
    warnings: [expect.stringContaining('`id: shop` under myshop')],
    import: ['n8n import:workflow --input=workflows/myshop.json'],
  });
  expect(stderr).toContain('`id: shop` under myshop');
  expect(existsSync(join(cwd, 'workflows/shop.json'))).toBe(false);
});

test('a reader that has seen enough is no error', async () => {
  const child = start(['generate', '--help'], { cwd: folderWith() });
  child.stdout?.destroy();
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  expect([await endOf(child), errors]).toEqual([0, '']);
});

test('a folder that cannot be written is a clear error of dev', async () => {
  const cwd = folderWith();
  chmodSync(cwd, 0o555);
  // Root may write anywhere, so it becomes somebody else; who cannot is not root.
  const uid = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  const { status, stdout, stderr } = await run(['dev', '--once'], { cwd, ...uid });
  chmodSync(cwd, 0o755);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/\.oncehook[\s\S]*permission denied[\s\S]*remedy/);
});

test('dev says so where its folder is a file', async () => {
  const cwd = folderWith();
  writeFileSync(join(cwd, '.oncehook'), '');
  const { status, stderr } = await run(['dev', '--once'], { cwd });
  expect([status, stderr]).toEqual([2, expect.stringContaining('.oncehook')]);
});
