import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { applyWrite, type FileSystem, type OutputFile, planWrite } from '../../../src/generate/write.ts';

let root = '';

beforeEach(async () => {
  root = await fs.mkdtemp(join(tmpdir(), 'oncehook-write-'));
});

afterEach(() => fs.rm(root, { recursive: true }));

/** Every file below the root, by path. */
async function tree(): Promise<Record<string, string>> {
  const entries = await fs.readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Object.fromEntries(
    await Promise.all(
      files.map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(root.length + 1), await fs.readFile(path, 'utf8')];
      }),
    ),
  );
}

async function write(files: OutputFile[], using?: FileSystem, signal?: AbortSignal): Promise<void> {
  await applyWrite(await planWrite(root, files), using, signal);
}

/** The real file system, of which the given call fails the n-th time with the code. */
function failing(call: keyof FileSystem, at: number, code: string): FileSystem {
  let calls = 0;
  const all: FileSystem = { ...fs };
  const real = all[call] as (...parameters: unknown[]) => Promise<unknown>;
  return {
    ...fs,
    [call]: (...parameters: unknown[]) => {
      calls += 1;
      return calls === at ? Promise.reject(Object.assign(new Error(code), { code })) : real(...parameters);
    },
  };
}

/** A file system on which a file can be opened but holds nothing. */
function full(): FileSystem {
  return {
    ...fs,
    open: async (...parameters: Parameters<typeof fs.open>) => {
      const handle = await fs.open(...parameters);
      handle.writeFile = async () => {
        await handle.write('half');
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      };
      return handle;
    },
  };
}

const OLD = { 'w/a.json': 'old a', 'w/b.json': 'old b' };
const NEXT = [
  { path: 'w/a.json', content: 'new a' },
  { path: 'w/b.json', content: 'new b' },
  { path: 'w/deep/c.json', content: 'new c' },
];

async function seed(): Promise<void> {
  await write(Object.entries(OLD).map(([path, content]) => ({ path, content })));
}

describe('writing', () => {
  test('makes folders and leaves nothing but the files', async () => {
    await write(NEXT);
    expect(await tree()).toEqual({ 'w/a.json': 'new a', 'w/b.json': 'new b', 'w/deep/c.json': 'new c' });
  });

  test('plans without touching the disk', async () => {
    await seed();
    const planned = await planWrite(root, [{ path: 'w/a.json', content: 'old a' }, ...NEXT.slice(1)]);
    expect(planned.map(({ state }) => state)).toEqual(['same', 'changed', 'new']);
    expect(await tree()).toEqual(OLD);
  });

  test('does not rewrite a file that is the same', async () => {
    await seed();
    const before = await fs.stat(join(root, 'w/a.json'), { bigint: true });
    await write([{ path: 'w/a.json', content: 'old a' }, ...NEXT.slice(1)]);
    const after = await fs.stat(join(root, 'w/a.json'), { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  });

  test('keeps the mode of a file that it replaces', async () => {
    await seed();
    await fs.chmod(join(root, 'w/a.json'), 0o600);
    await write(NEXT);
    expect((await fs.stat(join(root, 'w/a.json'))).mode & 0o777).toBe(0o600);
  });
});

describe('writing that fails leaves every file as it was', () => {
  test.each<[string, FileSystem]>([
    ['no room for the first file', full()],
    ['the second file cannot be made', failing('open', 2, 'EACCES')],
    ['the folder cannot be made', failing('mkdir', 3, 'EROFS')],
    ['the first rename', failing('rename', 1, 'EPERM')],
    ['the second rename', failing('rename', 2, 'EPERM')],
    ['the last rename', failing('rename', 3, 'ENOSPC')],
  ])('%s', async (_name, broken) => {
    await seed();
    await expect(write(NEXT, broken)).rejects.toThrow(UserError);
    expect(await tree()).toEqual(OLD);
    expect(await fs.readdir(join(root, 'w'))).toEqual(['a.json', 'b.json']);
  });

  test('Ctrl-C while the temporary files are written', async () => {
    await seed();
    const controller = new AbortController();
    const stopping: FileSystem = {
      ...fs,
      open: (...parameters: Parameters<typeof fs.open>) => {
        controller.abort(new Error('stopped'));
        return fs.open(...parameters);
      },
    };
    await expect(write(NEXT, stopping, controller.signal)).rejects.toThrow('stopped');
    expect(await tree()).toEqual(OLD);
  });

  test('and an error that nobody can mend is not dressed up', async () => {
    await expect(write(NEXT, failing('open', 1, 'EWEIRD'))).rejects.not.toThrow(UserError);
    expect(await tree()).toEqual({});
  });

  test('where undoing fails too, it says so', async () => {
    await seed();
    const broken: FileSystem = { ...failing('rename', 2, 'EPERM'), rm: failing('rm', 1, 'EACCES').rm };
    await expect(write(NEXT, broken)).rejects.toThrow('Not every file could be put back');
  });
});

describe('removing', () => {
  const removal = { path: 'w/b.json', content: null };
  const remove = async (using?: FileSystem) =>
    applyWrite(await planWrite(root, [{ path: 'w/a.json', content: 'new a' }, removal]), using);

  test('takes away what is there, and nothing is fine too', async () => {
    await seed();
    await remove();
    expect(await tree()).toEqual({ 'w/a.json': 'new a' });
    expect((await planWrite(root, [removal])).map(({ state }) => state)).toEqual(['same']);
  });

  test.each<[string, FileSystem]>([
    ['the removal', failing('rm', 1, 'EPERM')],
    ['the rename before it', failing('rename', 1, 'EPERM')],
  ])('leaves every file as it was where %s fails', async (_name, broken) => {
    await seed();
    await expect(remove(broken)).rejects.toThrow(UserError);
    expect(await tree()).toEqual(OLD);
  });

  test('puts back what it took where a later removal fails', async () => {
    await seed();
    const both = await planWrite(root, [removal, { path: 'w/a.json', content: null }]);
    await expect(applyWrite(both, failing('rm', 2, 'EPERM'))).rejects.toThrow(UserError);
    expect(await tree()).toEqual(OLD);
  });
});

describe('planning refuses', () => {
  test.each(['../x.json', '/etc/x.json', 'w/../../x.json', '.', ''])('the path %j', async (path) => {
    await expect(planWrite(root, [{ path, content: '' }])).rejects.toThrow(UserError);
  });

  test('a folder that is a symbolic link to elsewhere', async () => {
    await fs.symlink(tmpdir(), join(root, 'w'));
    await expect(planWrite(root, NEXT)).rejects.toThrow(UserError);
  });

  test('a folder that is a symbolic link to nothing', async () => {
    await fs.symlink(join(root, 'gone'), join(root, 'w'));
    await expect(planWrite(root, NEXT)).rejects.toThrow(UserError);
  });

  test('but not one that stays inside, nor a root behind a link', async () => {
    await fs.mkdir(join(root, 'real'));
    await fs.symlink(join(root, 'real'), join(root, 'w'));
    await write(NEXT);
    expect((await tree())['real/a.json']).toBe('new a');
    await fs.symlink(root, join(root, 'self'));
    const planned = await planWrite(join(root, 'self'), NEXT);
    expect(planned.map(({ state }) => state)).toEqual(['same', 'same', 'same']);
  });

  test.each<[string, (target: string) => Promise<unknown>]>([
    ['a symbolic link', (target) => fs.symlink('/etc/hostname', target)],
    ['a folder', (target) => fs.mkdir(target)],
  ])('%s in the place of a file', async (_name, make) => {
    await make(join(root, 'a.json'));
    await expect(planWrite(root, [{ path: 'a.json', content: '' }])).rejects.toThrow(UserError);
  });

  test('a file in the place of a folder, at the latest when it writes', async () => {
    await fs.writeFile(join(root, 'w'), 'mine');
    await expect(write(NEXT)).rejects.toThrow(UserError);
    expect(await tree()).toEqual({ w: 'mine' });
  });

  test('a root that does not exist', async () => {
    await expect(planWrite(join(root, 'none'), NEXT)).rejects.toThrow();
  });
});
