import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { readSdkTypes } from '../plugin/sdk-types.ts';

/** The engine and what it starts; plain data, so that it passes from the global setup to the workers. */
export interface Tools {
  /** The path of the CLI. */
  pulumi: string;
  /** What PATH must be, so that the CLI finds Node, plugins and language host. */
  path: string;
  /** Whether the plugin of @pulumi/postgresql is the real one or `test/pulumi/plugin`. */
  plugin: 'real' | 'stand-in';
  /** Whether the language host is the CLI's own or `test/pulumi/language`. */
  languageHost: 'real' | 'stand-in';
  /** Where what this run makes once is kept. */
  folder: string;
}

/** In that folder: the SDK's types, so that the stand-in need not parse them at every start. */
export const TYPES = 'types.json';

const here = (folder: string) => fileURLToPath(new URL(`../${folder}`, import.meta.url));

/**
 * Finds the engine: ONCEHOOK_TEST_PULUMI, else `pulumi` on PATH, else one built from Go modules; undefined where
 * there is no Go either. A plugin that ONCEHOOK_TEST_REAL_POSTGRESQL_PLUGIN names, or that is on PATH, goes before
 * the stand-in.
 */
export async function findTools(folder: string): Promise<Tools | undefined> {
  const pulumi = process.env['ONCEHOOK_TEST_PULUMI'] || onPath('pulumi') || (await build());
  if (!pulumi) return undefined;
  const plugin = process.env['ONCEHOOK_TEST_REAL_POSTGRESQL_PLUGIN'] || onPath('pulumi-resource-postgresql');
  const languageHost = beside(pulumi, 'pulumi-language-nodejs') ?? onPath('pulumi-language-nodejs');
  await writeFile(join(folder, TYPES), JSON.stringify(readSdkTypes()));
  const sdk = createRequire(import.meta.url).resolve('@pulumi/pulumi/package.json');
  const folders = [
    // The engine starts the program and its dynamic providers with whatever `node` comes first.
    dirname(process.execPath),
    dirname(pulumi),
    plugin ? dirname(plugin) : here('plugin'),
    languageHost ? dirname(languageHost) : here('language'),
    // pulumi-resource-pulumi-nodejs, which runs dynamic providers.
    dirname(sdk),
    process.env['PATH'] ?? '',
  ];
  return {
    pulumi,
    path: folders.join(delimiter),
    plugin: plugin ? 'real' : 'stand-in',
    languageHost: languageHost ? 'real' : 'stand-in',
    folder,
  };
}

async function build(): Promise<string | undefined> {
  if (!onPath('go')) return undefined;
  // Says on its standard error that it will take a while.
  const script = spawn(here('cli/build'), { stdio: ['ignore', 'pipe', 'inherit'] });
  const [path, [code]] = await Promise.all([text(script.stdout), once(script, 'close')]);
  if (code !== 0) throw new Error(`test/pulumi/cli/build ended with ${code}`);
  return path.trim();
}

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => executable(join(folder, name))).find(Boolean);
}

function beside(program: string, name: string): string | undefined {
  return executable(join(dirname(program), name));
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}
