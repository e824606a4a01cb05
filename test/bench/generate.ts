import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measurePairs, printRatios, type Side } from './pairs.ts';

const root = join(import.meta.dirname, '../..');
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 15);

/** Runs of a whole process a second, one after the other. */
function whole(args: string[], cwd: string): Side {
  return async () => {
    const began = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return 1000 / (performance.now() - began);
  };
}

execFileSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'oncehook-bench-'));
try {
  cpSync(join(root, 'oncehook.yaml'), join(folder, 'oncehook.yaml'));
  const nothing = whole(['-e', '0'], folder);
  // Times, not rates: how many times as long as an empty process.
  const ratios = [
    await measurePairs(
      'generate',
      nothing,
      whole([join(root, 'dist/cli/main.js'), 'generate'], folder),
      PAIRS,
    ),
    await measurePairs(
      'generate_from_sources',
      nothing,
      whole([join(root, 'src/cli/main.ts'), 'generate'], folder),
      PAIRS,
    ),
  ];
  console.log(
    `\`oncehook generate\`, a whole process, ÷ \`node -e 0\`. Median of ${PAIRS} pairs; wanted: at most 4.`,
  );
  printRatios(ratios, {});
} finally {
  rmSync(folder, { recursive: true, force: true });
}
