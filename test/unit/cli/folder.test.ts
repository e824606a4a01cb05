import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepCredential } from '../../../src/cli/dev/credential.ts';
import { keepPasswords, openFolder, readPasswords, writePrivate } from '../../../src/cli/dev/folder.ts';
import { UserError } from '../../../src/errors.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncehook-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('passwords are made once, and only this user may read them', async () => {
  expect(await readPasswords(folder)).toBeUndefined();
  const made = await keepPasswords(folder);
  expect(made.owner).not.toBe(made.n8n);
  expect(await keepPasswords(folder)).toEqual(made);
  expect(statSync(join(folder, 'passwords.json')).mode & 0o777).toBe(0o600);
});

test.each(['', '{', 'null', '[]', '{"owner":"a"}', '{"owner":"a","n8n":""}', '{"owner":1,"n8n":"b"}'])(
  'a file of passwords that was damaged is told, not overwritten: %s',
  async (text) => {
    writeFileSync(join(folder, 'passwords.json'), text);
    await expect(keepPasswords(folder)).rejects.toThrow(UserError);
    expect(readFileSync(join(folder, 'passwords.json'), 'utf8')).toBe(text);
  },
);

test('a file is written whole, and left alone where it holds the text already', async () => {
  const file = join(folder, 'x');
  await writePrivate(file, 'one');
  const before = statSync(file);
  await writePrivate(file, 'one');
  expect(statSync(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  await writePrivate(file, 'two');
  expect(readFileSync(file, 'utf8')).toBe('two');
  await expect(writePrivate(join(folder, 'x', 'y'), 'three')).rejects.toThrow(UserError);
  expect(readdirSync(folder)).toEqual(['x']);
});

test('the folder keeps itself out of the repository', async () => {
  const inside = join(folder, '.oncehook');
  await openFolder(inside);
  await openFolder(inside);
  expect(readFileSync(join(inside, '.gitignore'), 'utf8')).toBe('*\n');
  writeFileSync(join(folder, 'file'), '');
  await expect(openFolder(join(folder, 'file'))).rejects.toThrow(UserError);
});

test('what n8n does not have yet is told, at the start that makes it and at no other', async () => {
  const changed = async (port: number, n8n: string) =>
    (await keepCredential(folder, 'Ledger', port, { owner: 'o', n8n })).changed;
  expect(await changed(1, 'one')).toEqual(expect.arrayContaining(['Password', 'Port']));
  expect(await changed(1, 'one')).toEqual([]);
  expect(await changed(1, 'two')).toEqual(['Password']);
  expect(await changed(2, 'two')).toEqual(['Port']);
  expect(await changed(2, 'two')).toEqual([]);
});
