import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSerialised } from '../pulumi/program/provider-process.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

/** The packed tarball, installed in an empty folder: what a user gets from the registry. */
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'oncehook-package-')));
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

function exportsOf(installed: string): Record<string, { types?: string; default?: string }> {
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types?: string; default?: string }>;
  };
  const entries = Object.entries(exports);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? { default: value } : value]),
  );
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
  for (const { types, default: code } of Object.values(exportsOf(installed))) {
    for (const file of [types, code]) if (file) expect(existsSync(join(installed, file)), file).toBe(true);
  }
});

test('the installed command says its version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(run('npx', ['oncehook', '--version'], folder).trim()).toBe(version);
});

describe('in a Pulumi program of the user', () => {
  beforeAll(() => {
    // The peers, as the user has installed them.
    symlinkSync(join(root, 'node_modules/@pulumi'), join(folder, 'node_modules/@pulumi'));
    cpSync(join(import.meta.dirname, 'user-program.ts'), join(folder, 'index.ts'));
  });

  test('the components are typed', () => {
    const options =
      '--noEmit --strict --module nodenext --target es2024 --skipLibCheck --types node --typeRoots';
    const types = join(root, 'node_modules/@types');
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    run(process.execPath, [compiler, ...options.split(' '), types, 'index.ts'], folder);
  });

  test('the schema’s provider finds its code by the package’s name', async () => {
    const program = `
      const pulumi = (await import('@pulumi/pulumi')).default;
      await pulumi.runtime.setMocks({
        newResource({ name, inputs }) {
          if (inputs.__provider) console.log(JSON.stringify(inputs.__provider));
          return { id: name, state: inputs };
        },
        call: () => ({}),
      });
      const { OncehookSchema } = await import('oncehook/pulumi');
      new OncehookSchema('s', { database: { connection: 'c', n8nConnection: 'n' }, sources: [] });`;
    const text: string = JSON.parse(run(process.execPath, ['--input-type=module', '-e', program], folder));
    expect(text).toContain('oncehook/pulumi/work');
    const provider = await startSerialised(text, folder);
    try {
      const connection = 'postgresql://a:b@127.0.0.1:5432/c';
      const news = { connection, n8nConnection: connection, migrations: {}, sources: [], secrets: [] };
      expect(await provider.diff({ secrets: {} }, news)).toBe(true);
    } finally {
      await provider.stop();
    }
  });
});
