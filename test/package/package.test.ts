import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
let folder: string;

/** The packed tarball, installed in an empty folder: what a user gets from the registry. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncehook-package-'));
  const packed = run('npm', ['pack', '--json', '--pack-destination', folder], root);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  writeFileSync(join(folder, 'package.json'), '{"name":"user","private":true,"type":"module"}\n');
  run('npm', ['install', '--no-audit', '--no-fund', join(folder, filename)], folder);
  cpSync(join(root, 'oncehook.yaml'), join(folder, 'oncehook.yaml'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function contents(of: string): Record<string, string> {
  return Object.fromEntries(readdirSync(of).map((name) => [name, readFileSync(join(of, name), 'utf8')]));
}

test('the installed package generates the same bytes as the sources', () => {
  run('npx', ['oncehook', 'generate'], folder);
  const fromPackage = contents(join(folder, 'workflows'));
  const apart = mkdtempSync(join(tmpdir(), 'oncehook-sources-'));
  try {
    cpSync(join(root, 'oncehook.yaml'), join(apart, 'oncehook.yaml'));
    run(
      process.execPath,
      [join(root, 'src/cli/main.ts'), 'generate', '--config', join(apart, 'oncehook.yaml')],
      apart,
    );
    expect(Object.keys(fromPackage).length).toBeGreaterThan(0);
    expect(fromPackage).toEqual(contents(join(apart, 'workflows')));
    expect(readFileSync(join(folder, 'oncehook.schema.json'))).toEqual(
      readFileSync(join(apart, 'oncehook.schema.json')),
    );
  } finally {
    rmSync(apart, { recursive: true, force: true });
  }
});

test('the package is importable, typed, and holds no source or test', () => {
  const names = run(
    process.execPath,
    ['--input-type=module', '-e', "console.log(Object.keys(await import('oncehook')).sort().join())"],
    folder,
  ).trim();
  expect(names.split(',')).toEqual(
    expect.arrayContaining(['UserError', 'generate', 'loadConfig', 'sourceWorkflow']),
  );
  const installed = join(folder, 'node_modules/oncehook');
  expect(readdirSync(installed).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'package.json',
    'templates',
  ]);
  expect(readdirSync(join(installed, 'dist'))).toContain('index.d.ts');
});

test('the installed command says its version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(run('npx', ['oncehook', '--version'], folder).trim()).toBe(version);
});
