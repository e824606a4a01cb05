import { EXIT } from '../failure.ts';
import { generateText, importCommands } from '../generate-text.ts';
import { type CommonOptions, common } from '../options.ts';
import { printable, processOutput } from '../output.ts';
import { warnOfRenames } from '../rename-warnings.ts';
import type { StackCredential } from '../stack-credential.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions {
  check?: boolean;
  force?: boolean;
  merge: string[];
  stack?: string;
}

/** `oncehook generate`: the workflows of all sources, and the JSON Schema of the configuration. */
const generateVerb: Verb = (command, done) => {
  common(command, 'generate', 'generate --check', 'generate --merge export.json', 'generate --stack dev')
    .option('--check', 'write nothing; exit with status 1 where a file is out of date')
    .option(
      '--merge <export>',
      'take what is yours from a file that n8n exported (may be given several times)',
      (file: string, files: string[]) => [...files, file],
      [],
    )
    .option('--force', 'where you and the generator changed the same node, take what is generated')
    .option(
      '--stack <name>',
      "write what n8n's credential needs to .oncehook/, from the outputs of a Pulumi stack",
    )
    .action(async ({ json = false, config, check = false, force = false, merge, stack }: Options) => {
      const { generate } = await import('../../generate/generate.ts');
      const credential = stack === undefined || check ? undefined : await stackCredential(config, stack);
      const generated = await generate({ configFile: config, check, force, merge });
      const out = processOutput(json);
      const { files, upToDate, written, leftOver, skipped } = generated;
      const ofMerges = files.flatMap(({ path, warnings }) =>
        warnings.map((warning) => `${path}: ${warning}`),
      );
      for (const warning of ofMerges) out.note(out.paint('yellow', printable(warning, 400)));
      const warnings = [...warnOfRenames(generated.renames, out), ...ofMerges];
      const commands = written ? importCommands(generated, config) : [];
      const ok = check ? upToDate : written;
      const told = { ok, upToDate, written, files, leftOver, skipped, warnings, import: commands };
      out.result({ ...told, ...(credential ? { credential } : {}) }, () =>
        [
          ...(credential ? credentialLines(credential) : []),
          generateText(generated, { check, configFile: config }, out),
        ].join('\n'),
      );
      if (!ok) done(EXIT.no);
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
