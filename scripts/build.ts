import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { build } from 'rolldown';
import { configJsonSchema } from '../src/config/schema.ts';
import { COMPILED_PROVIDER_SCHEMA, COMPILED_SCHEMA } from '../src/generate/generate.ts';
import { COMPILED_PROVIDERS, compileProviders } from '../src/providers/load.ts';
import { providerJsonSchema } from '../src/providers/schema.ts';

/**
 * Makes `dist/`: bundled code, because to load hundreds of small files takes half of the time of `oncehook generate`;
 * what need not be worked out at each start, as JSON; types; and the licences of what was bundled.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
/** Small, loaded by every verb, and made of many files; everything else stays a dependency. */
const bundled = ['commander', 'yaml', 'zod'];

rmSync(dist, { recursive: true, force: true });
await build({
  input: {
    index: join(root, 'src/index.ts'),
    'cli/main': join(root, 'src/cli/main.ts'),
    pulumi: join(root, 'infra/exports.ts'),
    'pulumi-aws': join(root, 'infra/aws.ts'),
    'pulumi-work': join(root, 'infra/work/index.ts'),
  },
  platform: 'node',
  external: (id) =>
    !id.startsWith('.') &&
    !isAbsolute(id) &&
    !bundled.some((name) => id === name || id.startsWith(`${name}/`)),
  output: {
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    // Beside index.js, so that `templates/` is one step up from all of them, as it is from `src/`.
    chunkFileNames: '[name]-[hash].js',
  },
  logLevel: 'warn',
});
execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
writeFileSync(join(dist, COMPILED_PROVIDERS), JSON.stringify(compileProviders()));
writeFileSync(join(dist, COMPILED_SCHEMA), JSON.stringify(configJsonSchema()));
writeFileSync(join(dist, COMPILED_PROVIDER_SCHEMA), JSON.stringify(providerJsonSchema()));
writeFileSync(
  join(dist, 'LICENSES.txt'),
  bundled
    .map((name) => {
      const folder = join(root, 'node_modules', name);
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        version: string;
      };
      return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
    })
    .join('\n---\n\n'),
);
