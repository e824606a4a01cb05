import { EXIT } from '../failure.ts';
import { generateText, importCommands } from '../generate-text.ts';
import { type CommonOptions, common } from '../options.ts';
import { processOutput } from '../output.ts';
import { warnOfRenames } from '../rename-warnings.ts';
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
      const warnings = warnOfRenames(generated.renames, out);
      const commands = check ? [] : importCommands(generated, config);
      out.result({ ok: !check || upToDate, upToDate, files, leftOver, warnings, import: commands }, () =>
        generateText(generated, { check, configFile: config }, out),
      );
      if (check && !upToDate) done(EXIT.no);
    });
};
export default generateVerb;
