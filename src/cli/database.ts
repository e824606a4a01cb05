import { readEnv } from '../config/env.ts';
import { UserError } from '../errors.ts';
import { N8N_ROLE } from '../ledger/n8n-role.ts';
import type { Context } from './context.ts';
import type { DatabaseOptions } from './options.ts';
import type { StackOutputs } from './stack.ts';

/** A database that a verb works on. */
export interface Target {
  /** Connects as the role that migrates. */
  url: string;
  /** Connects as n8n does; undefined where its password is not known here. */
  n8nUrl?: string;
  /** What the address came from, for messages. */
  setting: string;
  /** For people: which database that is, without user and password. */
  name: string;
  /** True where the password of n8n's role is not this command's to set: `oncehook dev` or Pulumi does that. */
  keepsPassword: boolean;
}

/**
 * The database of the Pulumi stack that was named; or else the one that the configuration names by its environment
 * variable (or by another one in its place); where that is not set, the one of an `oncehook dev` that runs beside the
 * configuration.
 * @throws UserError where there is none.
 */
export async function findDatabase(
  context: Pick<Context, 'config' | 'devFolder' | 'root'>,
  { stack, databaseUrlEnv: variable }: DatabaseOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Target> {
  const { config, devFolder } = context;
  if (stack !== undefined) {
    const { readStack } = await import('./stack.ts');
    return ofStack(await readStack(stack, context, env));
  }
  const setting = variable ?? config.database;
  if (env[setting] !== undefined || variable !== undefined)
    return fromEnvironment(setting, env, config.n8nPassword);
  const { findDevDatabase } = await import('./dev/databases.ts');
  const dev = await findDevDatabase(devFolder);
  if (dev) return dev;
  throw new UserError({
    message: `The environment variable ${setting} is not set, and no \`oncehook dev\` runs here.`,
    expected: `${setting}=postgresql://user:password@host:5432/database`,
    remedy: 'Set it in the shell that runs this command, or start the development database: oncehook dev',
  });
}

/** n8n's password is Pulumi's to set, so that the target counts as one whose password is known elsewhere. */
function ofStack({ name, databaseUrl, n8nUrl }: StackOutputs): Target {
  const setting = `the stack ${name}`;
  return {
    url: databaseUrl,
    n8nUrl,
    setting,
    name: `${describeUrl(databaseUrl)} (stack ${name})`,
    keepsPassword: true,
  };
}

function fromEnvironment(setting: string, env: NodeJS.ProcessEnv, passwordSetting: string): Target {
  const url = readEnv(setting, env);
  const password = env[passwordSetting];
  return {
    url,
    setting,
    name: describeUrl(url),
    keepsPassword: false,
    ...(password ? n8nLogin(url, password) : {}),
  };
}

function n8nLogin(text: string, password: string): { n8nUrl: string } | Record<string, never> {
  if (!URL.canParse(text)) return {};
  const url = new URL(text);
  url.username = N8N_ROLE;
  url.password = encodeURIComponent(password);
  return { n8nUrl: url.href };
}

/** Host, port and database of an address, and nothing else of it. */
export function describeUrl(text: string): string {
  if (!URL.canParse(text)) return 'the database';
  const { hostname, port, pathname } = new URL(text);
  return `database "${decodeURIComponent(pathname.slice(1))}" on ${hostname}:${port || 5432}`;
}
