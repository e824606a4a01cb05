import type { Generated } from '../../generate/generate.ts';
import { EXIT } from '../failure.ts';
import { invocation } from '../invocation.ts';
import { type CommonOptions, common } from '../options.ts';
import { count, type Output, processOutput } from '../output.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions {
  check?: boolean;
  force?: boolean;
}

/** `oncehook generate`: the workflows of all sources, and the JSON Schema of the configuration. */
const generateVerb: Verb = (command, done) => {
  common(command, 'generate', 'generate --check')
    .option('--check', 'write nothing; exit with status 1 where a file is out of date')
    .option('--force', 'write over workflow files that were edited since they were generated')
    .action(async ({ json = false, config, check = false, force = false }: Options) => {
      const { generate } = await import('../../generate/generate.ts');
      const generated = await generate({ configFile: config, check, force });
      const out = processOutput(json);
      const { files, upToDate, leftOver } = generated;
      out.result({ ok: !check || upToDate, upToDate, files, leftOver }, () =>
        describe(generated, check, out),
      );
      if (check && !upToDate) done(EXIT.no);
    });
};
export default generateVerb;

function describe({ files, upToDate, leftOver }: Generated, check: boolean, out: Output): string {
  const words = check
    ? { new: 'missing', changed: 'out of date', same: 'up to date' }
    : { new: 'written', changed: 'updated', same: 'unchanged' };
  const lines = files.map(({ path, state, edits }) => {
    const edited = edits.length > 0 ? ` (edited: ${edits.join(', ')})` : '';
    return `${out.paint(state === 'same' ? 'dim' : check ? 'yellow' : 'green', words[state])} ${path}${edited}`;
  });
  const left = leftOver.map(
    (path) => `${out.paint('yellow', 'left over')} ${path}: its source is no longer configured`,
  );
  return [
    ...lines,
    ...left,
    summary(files.filter(({ state }) => state !== 'same').length, upToDate, check),
  ].join('\n');
}

function summary(changed: number, upToDate: boolean, check: boolean): string {
  if (upToDate) return 'Everything is up to date.';
  if (check) return `${count(changed, 'file is', 'files are')} not up to date. Run: ${invocation()} generate`;
  return `${count(changed, 'file')} written. Import the workflows into n8n again.`;
}
