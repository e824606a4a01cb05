import { z } from 'zod';
import { UserError } from '../errors.ts';

/**
 * Whether a text that could be a variable's name is more likely a secret pasted in capitals: a long run without
 * an underscore that mixes letters and digits, or a key in hexadecimal.
 */
function looksLikeSecret(name: string): boolean {
  const digits = name.replace(/[^0-9]/g, '').length;
  return name.length > 80 || /^[0-9A-F]{32,}$/.test(name) || (/[A-Z0-9]{20,}/.test(name) && digits >= 4);
}

/** The name of an environment variable. What is no name may be a secret, so it is never repeated. */
export function environmentNameSuchAs(example: string) {
  const error =
    `the NAME of an environment variable (A-Z, 0-9 and _), such as ${example}, ` +
    'and never what the variable holds';
  return z
    .string({ error })
    .regex(/^[A-Z_][A-Z0-9_]*$/, { error, abort: true })
    .refine((name) => !looksLikeSecret(name), { error });
}

/** The name of an environment variable that holds a signing secret. */
export const environmentName = environmentNameSuchAs('SHOP_WEBHOOK_SECRET');

/**
 * The value of an environment variable that the configuration names.
 * @throws UserError where it is not set or empty, with what to do.
 */
export function readEnv(
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== '') return value;
  throw new UserError({
    message: `The environment variable ${name} is ${value === '' ? 'empty' : 'not set'}.`,
    remedy: `Set it in the shell that runs this command, e.g. export ${name}=…`,
  });
}
