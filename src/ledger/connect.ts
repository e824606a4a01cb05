import pg from 'pg';
import { type Issue, UserError } from '../errors.ts';

export interface ConnectOptions {
  /** Shown in pg_stat_activity; `oncehook` where left out. */
  applicationName?: string;
  /** Where the URL came from, for messages: `ONCEHOOK_DATABASE_URL`. */
  setting?: string;
  /** How long a server may take to let us in; ten seconds where left out. */
  timeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_SETTING = 'ONCEHOOK_DATABASE_URL';

/**
 * One connection, open. The caller ends it.
 *
 * Throws UserError for every failure that names its cause; no message holds the password.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<pg.Client> {
  const client = makeClient(url, options);
  // Between queries a lost connection arrives as an event; the next query then rejects.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    // A client that gave up by itself (no password to send) keeps its socket, and the server waits behind it.
    void client.end().catch(() => {});
    // The cause, for callers that must tell one failure from another: words are for people.
    throw Object.assign(explainConnectError(error, client, options.setting), { cause: error });
  }
}

/**
 * A pool whose first connection was tried. The caller ends it.
 *
 * Throws UserError as `connect` does.
 */
export async function openPool(
  url: string,
  options: ConnectOptions & { max?: number } = {},
): Promise<pg.Pool> {
  const probe = await connect(url, options);
  await probe.end();
  const pool = new pg.Pool({ ...clientConfig(url, options), max: options.max ?? 10 });
  pool.on('error', () => {});
  return pool;
}

function clientConfig(url: string, options: ConnectOptions): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: options.timeoutMs ?? CONNECT_TIMEOUT_MS,
    application_name: options.applicationName ?? 'oncehook',
    keepAlive: true,
  };
}

function makeClient(url: string, options: ConnectOptions): pg.Client {
  const setting = options.setting ?? DEFAULT_SETTING;
  const expected = 'postgresql://user:password@host:5432/database';
  if (!/^postgres(ql)?:\/\//i.test(url)) {
    throw new UserError({ message: `${setting} is not a Postgres URL.`, expected });
  }
  try {
    return new pg.Client(clientConfig(url, options));
  } catch {
    // The error of the URL parser quotes its input, password included.
    throw new UserError({
      message: `${setting} cannot be read as a URL.`,
      expected,
      remedy: 'Percent-encode special characters in the password (@ as %40, / as %2F, # as %23, % as %25).',
    });
  }
}

/** A failed connection as a UserError that names user, host, port and database, and never the password. */
export function explainConnectError(
  error: unknown,
  target: Pick<pg.Client, 'host' | 'port' | 'user' | 'database'>,
  setting: string = DEFAULT_SETTING,
): UserError {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const where = `${target.host}:${target.port}`;
  const issue = (text: string, remedy: string): Issue => ({ message: text, remedy });
  const check = `Check ${setting}`;
  switch (code) {
    case '3D000':
      return new UserError(
        issue(
          `There is no database "${target.database}" on ${where}.`,
          `Create it (CREATE DATABASE "${target.database}"), or correct the name in ${setting}.`,
        ),
      );
    case '28P01':
      return new UserError(
        issue(
          `The server ${where} refuses the password of user "${target.user}".`,
          `${check}: user and password.`,
        ),
      );
    case '28000':
      return new UserError(
        issue(
          `The server ${where} does not let user "${target.user}" in: ${message}`,
          `${check}; on the server, see pg_hba.conf, and whether it demands TLS (?sslmode=require).`,
        ),
      );
    case '42501':
      return new UserError(
        issue(
          `User "${target.user}" may not connect to database "${target.database}" on ${where}.`,
          `As its owner: GRANT CONNECT ON DATABASE "${target.database}" TO "${target.user}".`,
        ),
      );
    case '53300':
      return new UserError(
        issue(
          `The server ${where} has no free connection: ${message}`,
          'End idle connections, or raise max_connections.',
        ),
      );
    case '57P03':
      return new UserError(issue(`The server ${where} is not ready: ${message}`, 'Try again in a moment.'));
    case 'ECONNREFUSED':
      return new UserError(
        issue(`Nothing listens on ${where}.`, `Start Postgres, or correct host and port in ${setting}.`),
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UserError(
        issue(
          `The host "${target.host}" is unknown (${code}).`,
          `${check}: the host name; and this machine's DNS.`,
        ),
      );
    case 'ENOENT':
      return new UserError(
        issue(
          `There is no socket of Postgres in ${target.host}.`,
          `Start Postgres, or correct the host in ${setting}.`,
        ),
      );
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return new UserError(unreachable(where, code, setting));
  }
  return explainByMessage(message, code, where, target.user ?? '', setting);
}

function explainByMessage(
  message: string,
  code: string,
  where: string,
  user: string,
  setting: string,
): UserError {
  if (/timeout/i.test(message)) return new UserError(unreachable(where, 'timed out', setting));
  if (/password must be a (non-empty )?string/.test(message)) {
    return new UserError({
      message: `The server ${where} asks for a password of user "${user}", and ${setting} holds none.`,
      remedy: `Put it into the URL: postgresql://${user}:<password>@….`,
    });
  }
  if (/does not support SSL/.test(message)) {
    return new UserError({
      message: `The server ${where} does not speak TLS.`,
      remedy: `Remove sslmode from ${setting} (or say sslmode=disable), if the way to the server is safe.`,
    });
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return new UserError({
      message: `The certificate of ${where} cannot be trusted (${code}).`,
      remedy: `Name its authority in ${setting}: ?sslmode=verify-full&sslrootcert=<file>.`,
    });
  }
  return new UserError({
    message: `Cannot connect to Postgres at ${where}: ${message || code || 'the connection was closed'}`,
    remedy: `Check ${setting} and the server's log.`,
  });
}

function unreachable(where: string, why: string, setting: string): Issue {
  return {
    message: `The server ${where} does not answer (${why}).`,
    remedy: `Check host and port in ${setting}, and firewalls and security groups on the way.`,
  };
}
