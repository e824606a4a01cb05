import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listProviders } from '../../src/providers/load.ts';
import { ownFolder, PARCELS } from '../fixtures/own-provider.ts';
import { endOf, run, start } from './harness.ts';

function folderWith(text?: string, slug?: string): string {
  const { folder } = ownFolder(text, slug);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const json = async (args: string[], cwd: string) => {
  const { status, stdout, stderr } = await run([...args, '--json'], { cwd });
  return { status, stderr, ...JSON.parse(stdout) };
};
const slugs = ({ providers }: { providers: { slug: string }[] }) => providers.map(({ slug }) => slug);

test('the list has the providers that ship and the own ones, and is what the bare verb says', async () => {
  const cwd = folderWith();
  const listed = await json(['providers', 'list'], cwd);
  expect([listed.status, listed.issues]).toEqual([0, []]);
  expect(slugs(listed)).toEqual([...listProviders(), 'parcels'].sort());
  expect(listed.providers.filter(({ own }: { own: boolean }) => own)).toMatchObject([{ slug: 'parcels' }]);
  expect(await json(['providers'], cwd)).toEqual(listed);
  const { stdout } = await run(['providers'], { cwd });
  for (const slug of slugs(listed)) expect(stdout).toMatch(new RegExp(`^${slug} `, 'm'));
});

test('a search needs all of its words, and says no where nothing has them', async () => {
  const cwd = folderWith();
  expect(slugs(await json(['providers', 'search', 'SHIPPING', 'hmac'], cwd))).toEqual(['parcels']);
  const none = await json(['providers', 'search', 'parsels'], cwd);
  expect(none).toMatchObject({ status: 1, ok: false, providers: [], near: 'parcels' });
});

test('one provider is shown; one that is not known gets a suggestion', async () => {
  const cwd = folderWith();
  const { provider, own } = await json(['providers', 'show', 'parcels'], cwd);
  expect([provider.name, own]).toEqual(['Parcels', true]);
  expect((await run(['providers', 'show', 'parcels'], { cwd })).stdout).toContain('x-parcels-signature');
  const unknown = await json(['providers', 'show', 'parcel'], cwd);
  expect([unknown.status, unknown.error.issues[0].remedy]).toEqual([2, expect.stringContaining('parcels')]);
  expect((await json(['providers', 'show', '../oncehook'], cwd)).status).toBe(2);
});

test('the list needs no configuration, and whoever has read enough may go', async () => {
  const cwd = folderWith();
  rmSync(join(cwd, 'oncehook.yaml'));
  rmSync(join(cwd, 'providers'), { recursive: true });
  expect(slugs(await json(['providers'], cwd))).toEqual(listProviders());
  const child = start(['providers'], { cwd });
  child.stdout?.destroy();
  expect(await endOf(child)).toBe(0);
});

test('generate takes an own provider, and writes a schema for editors beside the configuration', async () => {
  const cwd = folderWith();
  expect((await run(['generate'], { cwd })).status).toBe(0);
  expect(readFileSync(join(cwd, 'workflows/post.json'), 'utf8')).toContain('parcels');
  const schema = JSON.parse(readFileSync(join(cwd, 'oncehook-provider.schema.json'), 'utf8'));
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['signature', 'key', 'samples']));
  expect((await run(['generate', '--check'], { cwd })).status).toBe(0);
});

test.each([
  ['an empty file', ''],
  ['no YAML', 'name: [\n'],
  ['no text', '\u0000'],
  ['a key that is not known', PARCELS.replace('category:', 'kategory:')],
])('%s is an error of that file where it is used, and a remark where it is not', async (_, text) => {
  const cwd = folderWith(text);
  const { status, error } = await json(['generate'], cwd);
  expect(status).toBe(2);
  expect(new Set(error.issues.map(({ file }: { file: string }) => file))).toEqual(
    new Set(['providers/parcels.yaml']),
  );
  expect(existsSync(join(cwd, 'workflows'))).toBe(false);
  const listed = await json(['providers'], cwd);
  expect([listed.status, slugs(listed)]).toEqual([0, listProviders()]);
  expect(listed.stderr).toContain('providers/parcels.yaml');
});

test('an own file with the name of a provider that ships is refused with another name', async () => {
  const cwd = folderWith(PARCELS, 'custom');
  const { status, error } = await json(['generate'], cwd);
  expect([status, error.issues]).toEqual([
    2,
    [
      expect.objectContaining({
        file: 'providers/custom.yaml',
        remedy: expect.stringContaining('own-custom'),
      }),
    ],
  ]);
});

test('a folder in the place of an own file is an error, not a fault', async () => {
  const cwd = folderWith();
  rmSync(join(cwd, 'providers/parcels.yaml'));
  mkdirSync(join(cwd, 'providers/parcels.yaml'));
  expect((await run(['generate'], { cwd })).status).toBe(2);
  writeFileSync(join(cwd, 'providers/Not A Slug.yaml'), '');
  expect(slugs(await json(['providers'], cwd))).toEqual(listProviders());
});
