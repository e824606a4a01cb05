import { Command } from 'commander';
import { EXIT, explainFailure } from './failure.ts';
import { processOutput } from './output.ts';
import { type Verb, verbs } from './verbs.ts';

/**
 * Runs the command line. Returns the exit status: 0 done, 1 the check says no, 2 wrong use or configuration,
 * 70 a fault of Oncehook, 130 cancelled.
 */
export async function run(args: string[]): Promise<number> {
  surviveClosedPipes();
  const json = args.includes('--json');
  let status: number = EXIT.done;
  try {
    const program = await build(args, (value) => {
      status = value;
    });
    await program.parseAsync(called(program, args), { from: 'user' });
    return status;
  } catch (error) {
    const failure = await explainFailure(error);
    if (failure.text) process.stderr.write(`${failure.text}\n`);
    if (json && failure.json) processOutput(true).result(failure.json, String);
    return failure.status;
  }
}

/** Only the verb that is called is loaded; of the others the summary is enough. */
async function build(args: string[], done: (status: number) => void): Promise<Command> {
  const operands = args.filter((argument) => !argument.startsWith('-'));
  const wanted = operands[0] === 'help' ? operands[1] : operands[0];
  const program = new Command('oncehook')
    .description('Webhooks that take effect once: a Postgres ledger, and n8n workflows that ask it first.')
    .configureHelp({ showGlobalOptions: false })
    .exitOverride();
  if (args.includes('--version') || args.includes('-V')) {
    const { packageVersion } = await import('../templates.ts');
    program.version(packageVersion());
  } else {
    program.option('-V, --version', 'print the version');
  }
  for (const [name, { summary, load }] of Object.entries(verbs)) {
    const command = program.command(name).summary(summary).description(summary).exitOverride();
    if (name === wanted) ((await load()).default satisfies Verb)(command, done);
  }
  return program;
}

/**
 * The arguments as commander shall see them: it answers `nosuch --help` with the help of what stands above, as if
 * all were well, so that the wish for help is left out where the command is not known.
 */
function called(program: Command, args: string[]): string[] {
  const operands = args.filter((argument) => !argument.startsWith('-'));
  const path = operands[0] === 'help' ? operands.slice(1) : operands;
  let command = program;
  for (const name of path) {
    if (command.commands.length === 0) break;
    const found = command.commands.find((one) => one.name() === name);
    if (!found) return operands[0] === 'help' ? path : args.filter((one) => one !== '--help' && one !== '-h');
    command = found;
  }
  return args;
}

/** `oncehook status | head -1`: whoever reads has seen enough, and that is no error. */
function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      // A verb that has more to do than to print listens too and ends by itself.
      if (stream.listenerCount('error') === 1) process.exit(process.exitCode ?? EXIT.done);
    });
  }
}
