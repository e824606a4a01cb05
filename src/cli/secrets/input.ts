import { fstatSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { readEnv } from '../../config/env.ts';
import { UserError } from '../../errors.ts';
import { Cancelled } from '../failure.ts';
import type { AddOptions } from './desk.ts';

/** No secret of a sender is near this. */
const MOST_CHARACTERS = 10_000;

/**
 * The value of a secret: of the variable that was named; or of those of the configuration that are set; or else from
 * a pipe; or else typed unseen at a terminal. Never from an argument, which every user of the machine can read.
 * @throws UserError where there is none.
 */
export async function readSecret(
  names: readonly string[],
  { name, fromEnv, stdin = false }: AddOptions,
  env: NodeJS.ProcessEnv,
): Promise<{ name: string; value: string }[]> {
  if (fromEnv !== undefined) return [{ name: fromEnv, value: readEnv(fromEnv, env) }];
  const first = name ?? names[0] ?? 'secret';
  if (!stdin) {
    const wanted = name !== undefined && names.includes(name) ? [name] : names;
    const set = wanted.flatMap((variable) =>
      env[variable] ? [{ name: variable, value: env[variable] }] : [],
    );
    // One name of the user's choice cannot stand for several.
    if (set.length > 0) return name === undefined ? set : set.slice(0, 1);
  }
  if (stdin || isPiped()) return [{ name: first, value: oneLine(await readAll(process.stdin)) }];
  if (process.stdin.isTTY && process.stderr.isTTY) return [{ name: first, value: await prompt(first) }];
  throw new UserError({
    message: `There is no value: the environment has no ${names.join(' and no ')}.`,
    remedy:
      'Set it in the shell that runs this command, or pipe the value into it, or name a variable with --from-env.',
  });
}

/**
 * Asks before something that cannot be taken back by waiting.
 * @throws Cancelled where the answer is no; UserError where nobody can be asked.
 */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UserError({ message: 'Nobody can be asked here.', remedy: 'Say it with --yes.' });
  }
  const { confirm: ask } = await import('@clack/prompts');
  if ((await ask({ message: question, initialValue: false, output: process.stderr })) !== true)
    throw new Cancelled();
}

async function prompt(name: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts');
  const value = await password({ message: `The secret ${name}`, output: process.stderr });
  if (isCancel(value)) throw new Cancelled();
  return oneLine(value ?? '');
}

/** A pipe or a file; an open terminal or /dev/null has nothing to say. */
function isPiped(): boolean {
  try {
    const found = fstatSync(0);
    return found.isFIFO() || found.isFile() || found.isSocket();
  } catch {
    return false;
  }
}

/** The line break at the end is the shell's. */
function oneLine(text: string): string {
  // A key or a certificate has several lines, which mean nothing.
  const key = /^\s*-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----\s*$/.test(text);
  const value = key ? text.trim().replace(/\s*\r?\n\s*/g, ' ') : text.replace(/\r?\n$/, '');
  if (value !== '' && value.length <= MOST_CHARACTERS && !/[\r\n]/.test(value)) return value;
  throw new UserError({
    message: value === '' ? 'The secret is empty.' : 'The secret is not one line of text.',
    expected: 'one line, as the sender shows it, or a key or certificate with its lines BEGIN and END',
  });
}
