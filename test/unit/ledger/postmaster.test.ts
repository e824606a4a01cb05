import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../../src/ledger/embedded/processes.ts';

const source = new URL('../../../src/ledger/embedded/postmaster.ts', import.meta.url).href;

/** A process whose server is still starting when it ends: what runs in the server's place never accepts a connection. */
const program = (dataDir: string) => `
  import { spawn } from 'node:child_process';
  import { startPostmaster } from ${JSON.stringify(source)};
  const launcher = {
    owner: undefined,
    spawn(_program, _args, options) {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], options);
      child.once('spawn', () => process.stdout.write(String(child.pid), () => process.exit(0)));
      return child;
    },
  };
  const options = { dataDir: ${JSON.stringify(dataDir)}, port: 1, password: 'x', settings: undefined, onLog: undefined };
  await startPostmaster(options, { version: 18, initdb: '', postgres: '', pgCtl: '' }, launcher);
`;

test('a process that ends while its server is starting takes it along', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'oncehook-postmaster-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    program(dataDir),
  ]);
  const pid = Number(stdout);
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
});
