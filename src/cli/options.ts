import { type Command, InvalidArgumentError, Option } from 'commander';
import { invocation } from './invocation.ts';

/** What every verb takes. */
export interface CommonOptions {
  json?: boolean;
  config: string;
}

/** What the verbs that work on a database take. */
export interface DatabaseOptions {
  databaseUrlEnv?: string;
  stack?: string;
}

/** Adds `--json` and `--config` to a verb, and examples to its help. */
export function common(command: Command, ...examples: string[]): Command {
  return command
    .option('--json', 'print the result as JSON')
    .option('--config <file>', 'the configuration', 'oncehook.yaml')
    .addHelpText(
      'after',
      () =>
        `\nExample${examples.length > 1 ? 's' : ''}:\n${examples.map((line) => `  ${invocation()} ${line}`).join('\n')}`,
    );
}

/** Adds the options of the verbs that work on a database. */
export function onDatabase(command: Command): Command {
  return command
    .option(
      '--database-url-env <name>',
      'the environment variable that holds the address of the database, in place of the one that the configuration names',
    )
    .addOption(
      new Option('--stack <name>', 'the database of a Pulumi stack, by its outputs').conflicts(
        'databaseUrlEnv',
      ),
    );
}

/** An option's parser for a whole number between two others. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}
