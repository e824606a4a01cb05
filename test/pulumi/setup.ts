import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { findTools, type Tools } from './harness/tools.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    tools: Tools | undefined;
  }
}

/** Finds (or, once a machine, builds) the pulumi CLI; without it and without Go the engine tests are skipped. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => project.vitest.logger.log(line);
  const folder = await mkdtemp(join(tmpdir(), 'oncehook-pulumi-'));
  const tools = await findTools(folder);
  project.provide('tools', tools);
  say(
    tools
      ? `pulumi: ${tools.pulumi}, plugin: ${tools.plugin}, language host: ${tools.languageHost}`
      : ' Left out: the tests with the real Pulumi engine. Needs pulumi on PATH, or Go 1.26 to build it.',
  );
  return () => rm(folder, { recursive: true, force: true });
}
