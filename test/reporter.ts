import { appendFileSync, globSync, readFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** The suites that `npm test` leaves out, because what they need is large, and the command for each. */
const apart: Record<string, { what: string; command: string }> = {
  pulumi: {
    what: 'the pulumi CLI, or Go 1.26 to build it once (five minutes)',
    command: 'npm run test:pulumi',
  },
  n8n: { what: 'a real n8n (2.9 GB, installed at the first run)', command: 'npm run test:n8n' },
  package: { what: 'the packed tarball, installed in an empty folder', command: 'npm run test:package' },
};

/**
 * Says what a run left out, skipped tests included, and adds the run's tally to the file that
 * ONCEHOOK_TEST_TALLY names, so that several runs can be summed up: the counts, which tests failed and why, and
 * which ones passed at a second try only.
 */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    const skipped: string[] = [];
    const failures = unhandled.map((error) => `outside any test: ${firstLine(error)}`);
    const retried: string[] = [];
    const ran = new Set<string>();
    for (const module of modules) {
      ran.add(module.project.name);
      const named = (what: string) => `${module.project.name}: ${module.relativeModuleId}: ${what}`;
      if (module.state() === 'failed' && module.errors().length > 0) {
        counts.failed += 1;
        failures.push(named(firstLine(module.errors()[0])));
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'pending') continue;
        counts[state] += 1;
        if (state === 'skipped') skipped.push(test.fullName);
        if (state === 'failed') failures.push(named(`${test.fullName}: ${firstLine(errors?.[0])}`));
        if (state === 'passed' && (test.diagnostic()?.retryCount ?? 0) > 0)
          retried.push(named(test.fullName));
      }
    }
    for (const [project, { what, command }] of Object.entries(apart)) {
      if (ran.has(project)) continue;
      const files = globSync(`test/${project}/**/*.test.ts`);
      if (files.length > 0) {
        console.log(
          ` Left out: ${project}, about ${written(files)} tests in ${files.length} files. Needs ${what}: ${command}`,
        );
      }
    }
    if (skipped.length > 0)
      console.log(` Skipped: ${skipped.length}\n${skipped.map((name) => `   ${name}`).join('\n')}`);
    const tally = process.env['ONCEHOOK_TEST_TALLY'];
    if (tally) appendFileSync(tally, `${JSON.stringify({ ...counts, failures, retried })}\n`);
  }
}

/** What went wrong, as far as it fits a line. */
function firstLine(error: unknown): string {
  const message = (error as { message?: unknown } | undefined)?.message ?? error ?? 'no reason given';
  return String(message).split('\n', 1)[0]?.slice(0, 300) ?? '';
}

/** How many tests are written in files that do not run: a table of cases counts as one. */
function written(files: string[]): number {
  return files.reduce(
    (sum, file) => sum + (readFileSync(file, 'utf8').match(/^\s*(?:test|it)[.(]/gm)?.length ?? 0),
    0,
  );
}
