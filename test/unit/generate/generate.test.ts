import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { generate } from '../../../src/generate/generate.ts';
import { RAW as ALL, configText } from './sources.ts';

/** The sources whose provider files come with Oncehook. */
const { stripe, yookassa, custom } = ALL;
const RAW = { stripe, yookassa, custom };

let root = '';
let configFile = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'oncehook-generate-'));
  configFile = join(root, 'oncehook.yaml');
  await configure(RAW);
});

afterEach(() => rm(root, { recursive: true }));

function configure(sources: Record<string, Record<string, unknown>>, more = {}): Promise<void> {
  return writeFile(configFile, configText(sources, more));
}

const read = (path: string) => readFile(join(root, path), 'utf8');
const states = ({ files }: Awaited<ReturnType<typeof generate>>) =>
  Object.fromEntries(files.map(({ path, state }) => [path, state]));

describe('generate', () => {
  test('writes a workflow a source and the schema, then finds everything up to date', async () => {
    const first = await generate({ configFile });
    expect(states(first)).toEqual({
      'workflows/stripe.json': 'new',
      'workflows/yookassa.json': 'new',
      'workflows/custom.json': 'new',
      'oncehook.schema.json': 'new',
    });
    expect((await readdir(root)).sort()).toEqual(['oncehook.schema.json', 'oncehook.yaml', 'workflows']);
    expect(JSON.parse(await read('oncehook.schema.json'))).toMatchObject({ type: 'object' });
    expect(await generate({ configFile })).toMatchObject({ upToDate: true });
  });

  test('writes the same bytes in another folder', async () => {
    await generate({ configFile });
    const before = await read('workflows/stripe.json');
    await configure(RAW, { workflows: 'n8n/made' });
    await generate({ configFile });
    expect(await read('n8n/made/stripe.json')).toBe(before);
  });

  test('with check writes nothing', async () => {
    const result = await generate({ configFile, check: true });
    expect(result.upToDate).toBe(false);
    expect(await readdir(root)).toEqual(['oncehook.yaml']);
  });

  test('writes only what the config changed', async () => {
    await generate({ configFile });
    await configure({ ...RAW, stripe: { ...RAW.stripe, lease: '1h' } });
    expect(states(await generate({ configFile }))).toEqual({
      'workflows/stripe.json': 'changed',
      'workflows/yookassa.json': 'same',
      'workflows/custom.json': 'same',
      'oncehook.schema.json': 'same',
    });
  });

  test('keeps file and ids of a renamed source', async () => {
    await generate({ configFile });
    const { id } = JSON.parse(await read('workflows/stripe.json')) as { id: string };
    const { stripe: old, ...others } = RAW;
    await configure({ ...others, 'stripe-eu': { ...old, id: 'stripe' } });
    const result = await generate({ configFile });
    expect(result.leftOver).toEqual([]);
    expect(JSON.parse(await read('workflows/stripe.json'))).toMatchObject({
      id,
      name: 'stripe-eu (Oncehook)',
    });
  });

  test('writes nothing where the config has an issue', async () => {
    await configure({ ...RAW, more: { provider: 'nobody' } });
    await expect(generate({ configFile })).rejects.toThrow(UserError);
    expect(await readdir(root)).toEqual(['oncehook.yaml']);
  });

  test('refuses a folder outside that of the config', async () => {
    await configure(RAW, { workflows: '../elsewhere' });
    await expect(generate({ configFile })).rejects.toThrow(UserError);
  });

  test('says in words that the disk refuses', async () => {
    await writeFile(join(root, 'workflows'), 'a file');
    await expect(generate({ configFile })).rejects.toThrow(UserError);
    expect(await read('workflows')).toBe('a file');
  });

  test.skipIf(process.getuid?.() === 0)('says that it has no right to write', async () => {
    await mkdir(join(root, 'workflows'));
    await chmod(join(root, 'workflows'), 0o500);
    await expect(generate({ configFile })).rejects.toThrow(UserError);
  });
});

describe('a workflow file that was edited', () => {
  const edit = async (...changes: [from: string, to: string][]) => {
    await generate({ configFile });
    let text = await read('workflows/stripe.json');
    for (const [from, to] of changes) text = text.replace(from, to);
    await writeFile(join(root, 'workflows/stripe.json'), text);
    await configure({
      ...RAW,
      stripe: { ...RAW.stripe, lease: '1h', key: '{body.object.id}' },
      custom: { ...RAW.custom, lease: '1h' },
    });
  };
  const both: [string, string] = ['"value": "{body.id}"', '"value": "{body.mine}"'];

  test('is brought up to date, with the edit', async () => {
    await edit(['"maxTries": 5', '"maxTries": 2']);
    expect((await generate({ configFile, check: true })).upToDate).toBe(false);
    const { files, written } = await generate({ configFile });
    expect([written, files[0]?.edits, files[2]?.edits]).toEqual([true, ['Mark success: maxTries'], []]);
    const text = await read('workflows/stripe.json');
    expect([text.includes('"maxTries": 2'), text.includes('{body.object.id}')]).toEqual([true, true]);
    expect(await generate({ configFile, check: true })).toMatchObject({ upToDate: true });
  });

  test('is not written over where that would lose an edit, nor is any other file', async () => {
    await edit(both);
    const before = [await read('workflows/stripe.json'), await read('workflows/custom.json')];
    const { files, written, upToDate } = await generate({ configFile });
    expect([written, upToDate]).toEqual([false, false]);
    expect(files[0]?.conflicts).toMatchObject([{ node: 'Idempotency key' }]);
    expect([await read('workflows/stripe.json'), await read('workflows/custom.json')]).toEqual(before);
  });

  test('is written by force with what is generated for that node, and the other edits', async () => {
    await edit(both, ['"maxTries": 5', '"maxTries": 2']);
    expect(await generate({ configFile, force: true })).toMatchObject({ written: true });
    const text = await read('workflows/stripe.json');
    expect([text.includes('"maxTries": 2'), text.includes('{body.object.id}')]).toEqual([true, true]);
    expect(await generate({ configFile })).toMatchObject({ upToDate: true });
  });

  test('is written over where only its spacing changed', async () => {
    await edit(['"active": false', '"active":    false']);
    const { files } = await generate({ configFile });
    expect(files[0]).toMatchObject({ state: 'changed', edits: [] });
  });

  test.each(['', 'not JSON', '{"name":"mine","nodes":[]}'])(
    'is one that somebody else wrote: %j',
    async (text) => {
      await mkdir(join(root, 'workflows'));
      await writeFile(join(root, 'workflows/stripe.json'), text);
      expect(await generate({ configFile })).toMatchObject({ written: false });
      expect(await read('workflows/stripe.json')).toBe(text);
      expect(await generate({ configFile, force: true })).toMatchObject({ written: true });
    },
  );

  test('is one of another source or project', async () => {
    await generate({ configFile });
    await configure(RAW, { project: 'other' });
    expect(await generate({ configFile })).toMatchObject({ written: false });
  });
});

describe('an export from n8n', () => {
  const exported = async (name: string, change: (text: string) => string = (text) => text) => {
    const file = join(root, `${name}.json`);
    await writeFile(file, change(await read('workflows/stripe.json')));
    return file;
  };
  const tired = (text: string) => text.replace('"maxTries": 5', '"maxTries": 2');

  test('brings what is the user’s into the file, also from a list among other workflows', async () => {
    await generate({ configFile });
    const file = await exported('all', (text) => `[{"name":"mine","nodes":[]},${tired(text)}]`);
    const { skipped, files } = await generate({ configFile, merge: [file] });
    expect([skipped, files[0]]).toMatchObject([
      ['mine'],
      { state: 'changed', edits: ['Mark success: maxTries'] },
    ]);
    expect(await read('workflows/stripe.json')).toContain('"maxTries": 2');
    expect(await generate({ configFile })).toMatchObject({ upToDate: true });
  });

  test('is taken as n8n’s APIs answer it', async () => {
    await generate({ configFile });
    const file = await exported('rest', (text) => `{"data":${tired(text)}}`);
    await generate({ configFile, merge: [file] });
    expect(await read('workflows/stripe.json')).toContain('"maxTries": 2');
  });

  test('is refused where it is none, holds nothing of the project, or a source twice', async () => {
    await generate({ configFile });
    const [one, two] = [await exported('one'), await exported('two')];
    const none = await exported('none', () => '{"name":"mine","nodes":[]}');
    const text = await exported('text', () => 'nodes');
    for (const merge of [[none], [text], [one, two], [join(root, 'nowhere.json')]]) {
      await expect(generate({ configFile, merge })).rejects.toThrow(UserError);
    }
  });
});

describe('the file of a source that left', () => {
  const left = async (change: (text: string) => string = (text) => text) => {
    await generate({ configFile });
    const file = join(root, 'workflows/custom.json');
    await writeFile(file, change(await readFile(file, 'utf8')));
    await configure({ stripe: RAW.stripe, yookassa: RAW.yookassa });
  };

  test('is removed, and other files are left alone', async () => {
    await left();
    await writeFile(join(root, 'workflows/mine.json'), '{"name":"mine"}');
    const { leftOver, upToDate } = await generate({ configFile });
    expect(upToDate).toBe(false);
    expect(leftOver).toEqual([
      {
        ...{ path: 'workflows/custom.json', source: 'custom', provider: 'custom' },
        ...{ workflow: 'custom (Oncehook)', edits: [], copy: false },
      },
    ]);
    expect((await readdir(join(root, 'workflows'))).sort()).toEqual([
      'mine.json',
      'stripe.json',
      'yookassa.json',
    ]);
    expect(await generate({ configFile })).toMatchObject({ upToDate: true, leftOver: [] });
  });

  test('is removed where no source is left at all', async () => {
    await left();
    await configure({});
    await generate({ configFile });
    expect(await readdir(join(root, 'workflows'))).toEqual([]);
  });

  test('stays where it was edited, and is out of date', async () => {
    await left((text) => text.replace('"maxTries": 5', '"maxTries": 2'));
    const before = await read('workflows/custom.json');
    const { leftOver, upToDate } = await generate({ configFile, force: true });
    expect([leftOver.map(({ edits }) => edits), upToDate]).toEqual([[['"Mark success"']], false]);
    expect(await read('workflows/custom.json')).toBe(before);
  });

  test('is out of date for check, which leaves it', async () => {
    await left();
    expect(await generate({ configFile, check: true })).toMatchObject({
      upToDate: false,
      leftOver: [{ source: 'custom' }],
    });
    expect(await readdir(join(root, 'workflows'))).toContain('custom.json');
  });

  test('stays where another project wrote it', async () => {
    await left((text) => text.replace('"project": "shop"', '"project": "other"'));
    expect(await generate({ configFile })).toMatchObject({ upToDate: true, leftOver: [] });
    expect(await readdir(join(root, 'workflows'))).toContain('custom.json');
  });

  test('is told from a copy, which is the user’s', async () => {
    await generate({ configFile });
    await writeFile(join(root, 'workflows/old.json'), await read('workflows/custom.json'));
    const { leftOver, renames } = await generate({ configFile });
    expect([leftOver, renames]).toMatchObject([[{ path: 'workflows/old.json', copy: true }], []]);
    expect(await readdir(join(root, 'workflows'))).toContain('old.json');
  });

  test('and a new source of its provider may be one source that was renamed', async () => {
    await left();
    await configure({
      ...{ stripe: RAW.stripe, yookassa: RAW.yookassa, 'stripe-eu': RAW.stripe },
      ...{ orders: RAW.custom },
    });
    const checked = await generate({ configFile, check: true });
    expect(checked.renames).toEqual([{ gone: 'custom', added: ['orders'] }]);
    expect((await generate({ configFile })).renames).toEqual(checked.renames);
    expect((await generate({ configFile })).renames).toEqual([]);
  });

  test('and no new source of its provider is no rename', async () => {
    const others = { stripe: RAW.stripe, yookassa: RAW.yookassa, orders: { ...RAW.custom, path: 'orders' } };
    await configure({ ...others, custom: RAW.custom });
    await generate({ configFile });
    await configure({ ...others, 'stripe-eu': RAW.stripe });
    const { leftOver, renames } = await generate({ configFile });
    expect([leftOver.map(({ source }) => source), renames]).toEqual([['custom'], []]);
  });
});

describe('Ctrl-C', () => {
  test('in the middle of the work lets it clean up, and then ends the process by that signal', async () => {
    const module = fileURLToPath(new URL('../../../src/generate/interrupt.ts', import.meta.url));
    const script = `
      import { interruptible } from ${JSON.stringify(module)};
      const timer = setInterval(() => {}, 1000);
      await interruptible((signal) => new Promise((_, reject) => {
        signal.addEventListener('abort', () => { clearInterval(timer); console.log('cleaned'); reject(signal.reason); });
        console.log('working');
      })).catch(() => {});
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output === 'working\n') {
        child.kill('SIGINT');
      }
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGINT');
    expect(output).toBe('working\ncleaned\n');
  });
});
