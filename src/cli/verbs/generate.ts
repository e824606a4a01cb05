import { EXIT } from '../failure.ts';
import { generateText, importCommands } from '../generate-text.ts';
import { type CommonOptions, common } from '../options.ts';
import { processOutput } from '../output.ts';
import { warnOfRenames } from '../rename-warnings.ts';
import type { StackCredential } from '../stack-credential.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions {
  check?: boolean;
  force?: boolean;
  stack?: string;
}

/** `oncehook generate`: the workflows of all sources, and the JSON Schema of the configuration. */
const generateVerb: Verb = (command, done) => {
  common(command, 'generate', 'generate --check', 'generate --stack dev')
    .option('--check', 'write nothing; exit with status 1 where a file is out of date')
    .option('--force', 'write over workflow files that were edited since they were generated')
    .option(
      '--stack <name>',
      "write what n8n's credential needs to .oncehook/, from the outputs of a Pulumi stack",
    )
    .action(async ({ json = false, config, check = false, force = false, stack }: Options) => {
      const { generate } = await import('../../generate/generate.ts');
      const credential = stack === undefined || check ? undefined : await stackCredential(config, stack);
      const generated = await generate({ configFile: config, check, force });
      const out = processOutput(json);
      const { files, upToDate, leftOver } = generated;
      const warnings = warnOfRenames(generated.renames, out);
      const commands = check ? [] : importCommands(generated, config);
      const told = { ok: !check || upToDate, upToDate, files, leftOver, warnings, import: commands };
      out.result({ ...told, ...(credential ? { credential } : {}) }, () =>
        [
          ...(credential ? credentialLines(credential) : []),
          generateText(generated, { check, configFile: config }, out),
        ].join('\n'),
      );
      if (check && !upToDate) done(EXIT.no);
    });
};
export default generateVerb;

async function stackCredential(configFile: string, stack: string): Promise<StackCredential> {
  const { keepStackCredential } = await import('../stack-credential.ts');
  return keepStackCredential(configFile, stack);
}

function credentialLines({ file, name, changed }: StackCredential): string[] {
  return [
    changed.length > 0
      ? `written ${file}: the values of n8n's Postgres credential "${name}", password included.`
      : `unchanged ${file}: n8n's Postgres credential "${name}"`,
  ];
}
