import { readEnv } from '../config/env.ts';
import { UserError } from '../errors.ts';
import { N8N_ROLE } from '../ledger/n8n-role.ts';
import type { Context } from './context.ts';

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
  /** True for the database of `oncehook dev`. */
  dev: boolean;
}

/**
 * The database that the configuration names by its environment variable (or `variable` in its place); where that
 * is not set, the one of an `oncehook dev` that runs beside the configuration.
 * @throws UserError where there is neither.
 */
export async function findDatabase(
  { config, devFolder }: Pick<Context, 'config' | 'devFolder'>,
  variable: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Target> {
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

function fromEnvironment(setting: string, env: NodeJS.ProcessEnv, passwordSetting: string): Target {
  const url = readEnv(setting, env);
  const password = env[passwordSetting];
  return {
    url,
    setting,
    name: describeUrl(url),
    dev: false,
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
