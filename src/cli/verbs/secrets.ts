import type { Command } from 'commander';
import { type CommonOptions, common, type DatabaseOptions, onDatabase } from '../options.ts';
import { type Output, processOutput, table } from '../output.ts';
import type { SecretsDesk, StoredLine } from '../secrets/desk.ts';
import type { Verb } from '../verbs.ts';

interface Options extends CommonOptions, DatabaseOptions {
  name?: string;
  fromEnv?: string;
  stdin?: boolean;
  yes?: boolean;
}

/** `oncehook secrets`: signing secrets in the ledger, whose values are never printed. */
const secretsVerb: Verb = (command) => {
  sub(
    command,
    'sync',
    'store every secret that the configuration names and the environment has',
    'secrets sync',
  ).action((options: Options) =>
    withDesk(options, async (desk, out) => {
      const { stored, missing } = await desk.sync();
      out.result({ ok: true, stored, missing }, () =>
        [
          ...stored.map(storedText),
          ...missing.map(({ source, name }) => `${source}: ${name} is not set in the environment`),
          ...(stored.length + missing.length === 0 ? ['The configuration names no secret.'] : []),
        ].join('\n'),
      );
    }),
  );
  sub(
    command,
    'add <source>',
    'store a secret: of the environment, or from a pipe, or typed',
    'secrets add shop',
    'secrets add shop --name "new endpoint" --from-env NEW_SECRET',
  )
    .option('--name <name>', 'what lists call it (default: the name of the environment variable)')
    .option(
      '--from-env <variable>',
      'the environment variable that holds it, in place of those of the configuration',
    )
    .option('--stdin', 'read it from standard input')
    .action((source: string, options: Options) =>
      withDesk(options, async (desk, out) => {
        const stored = await desk.add(source, options);
        out.result({ ok: true, stored }, () => stored.map(storedText).join('\n'));
      }),
    );
  sub(
    command,
    'list [source]',
    'names and dates of the secrets, without their values',
    'secrets list',
  ).action((source: string | undefined, options: Options) =>
    withDesk(options, async (desk, out) => {
      const secrets = await desk.list(source);
      out.result({ ok: true, secrets }, () =>
        secrets.length === 0
          ? 'No secret is stored.'
          : table([
              ['source', 'name', 'stored', 'state'],
              ...secrets.map(({ source: of, name, createdAt, retiredAt }) => [
                of,
                name,
                createdAt.toISOString(),
                retiredAt ? `retired ${retiredAt.toISOString()}` : 'live',
              ]),
            ]),
      );
    }),
  );
  sub(
    command,
    'retire <source> <name>',
    'end the life of a secret: deliveries signed with it are rejected',
    'secrets retire shop SHOP_WEBHOOK_SECRET',
  )
    .option('-y, --yes', 'do not ask')
    .action((source: string, name: string, options: Options) =>
      withDesk(options, async (desk, out) => {
        const retired = await desk.retire(source, name, options.yes ?? false);
        out.result({ ok: true, source, name, retired }, () =>
          retired ? `${source}: ${name} is retired` : `${source}: ${name} was retired before`,
        );
      }),
    );
};
export default secretsVerb;

function sub(parent: Command, signature: string, summary: string, ...examples: string[]): Command {
  return onDatabase(
    common(parent.command(signature).summary(summary).description(summary).exitOverride(), ...examples),
  );
}

async function withDesk(
  options: Options,
  work: (desk: SecretsDesk, out: Output) => Promise<void>,
): Promise<void> {
  const { openDesk } = await import('../secrets/desk.ts');
  const out = processOutput(options.json ?? false);
  const desk = await openDesk(options.config, options);
  try {
    await work(desk, out);
  } finally {
    await desk.close();
  }
}

function storedText({ source, name, change, renamed }: StoredLine): string {
  const words = { added: 'stored', kept: 'stored before', 'taken back': 'live again' };
  const other =
    renamed === undefined ? '' : `; the one before stays live as "${renamed}" until it is retired`;
  return `${source}: ${name} ${words[change]}${other}`;
}
