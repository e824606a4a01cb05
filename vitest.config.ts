import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], ...extra },
});

/**
 * Tests that start whole programs depend on how busy the machine is. In CI they get a second try, and the report names
 * each one that needed it; tests of logic and of races get none.
 */
const withPrograms = process.env['CI'] ? { retry: 1 } : {};

/** The tests with the real Pulumi engine, which need more than the others in their folder. */
const ENGINE = 'test/pulumi/engine-*.test.ts';

/** Pulumi stores the text of these classes as it is, and Vite would write its own `import()` into it. */
const asNodeLoadsIt = { server: { deps: { external: [/\/infra\/dynamic\.ts$/] } } };

export default defineConfig({
  test: {
    reporters: ['default', './test/reporter.ts'],
    // Much of the work is Postgres's, so two workers pay even on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // A bound, not an expectation: on a busy machine a property of many runs takes its time.
      project('unit', { testTimeout: 60_000 }),
      project('postgres', {
        globalSetup: './test/postgres/setup.ts',
        testTimeout: 180_000,
        hookTimeout: 180_000,
      }),
      project('pulumi', { ...withPrograms, exclude: [ENGINE], testTimeout: 60_000, ...asNodeLoadsIt }),
      project('engine', {
        include: [ENGINE],
        globalSetup: './test/pulumi/setup.ts',
        ...withPrograms,
        testTimeout: 300_000,
        hookTimeout: 180_000,
      }),
      project('cli', { ...withPrograms, testTimeout: 300_000, hookTimeout: 300_000 }),
      project('n8n', {
        globalSetup: './test/n8n/setup.ts',
        ...withPrograms,
        testTimeout: 300_000,
        hookTimeout: 600_000,
        fileParallelism: false,
      }),
      project('package', { ...withPrograms, testTimeout: 300_000, hookTimeout: 300_000 }),
    ],
  },
});
