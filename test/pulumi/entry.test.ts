import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import program from '../../infra/index.ts';

const root = new URL('../../', import.meta.url);
const { main } = parse(readFileSync(new URL('Pulumi.yaml', root), 'utf8')) as { main: string };

test('what Pulumi starts is the program', async () => {
  expect((await import(new URL(main, root).href)).default).toBe(program);
});

test('a Node.js without TypeScript is told apart, with the remedy and without a stack', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--no-experimental-strip-types',
      '--input-type=module',
      '-e',
      `import pulumi from '@pulumi/pulumi';
       await import('./${main}').catch((error) =>
         console.log(JSON.stringify([pulumi.RunError.isInstance(error), error.message])));`,
    ],
    { cwd: root },
  );
  // Pulumi prints an error of this class without its stack.
  expect(JSON.parse(stdout)).toEqual([true, expect.stringContaining('npm run -s pulumi')]);
});
