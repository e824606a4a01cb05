import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Issue, UserError } from '../../src/errors.ts';

/** Where RDS's certificate authorities are published, for every region of the partition `aws`. */
export const caUrl = 'https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem';

/** Postgres's SSLRequest: its length, and the number that stands for it. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
/** With the start of Pulumi well under a quarter of a minute. */
const defaultTimeoutMs = 8_000;
/** A server that was just made: its name and the rule that lets us in take a moment to be known everywhere. */
const passing = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'];
const betweenTriesMs = 1_000;

const elsewhere =
  'Run pulumi where the VPC can be reached, or set aws.reach to second-stack: this stack then ends with the ' +
  'server, and a second one goes on inside the VPC (docs/provisioning-aws.md).';

/**
 * Whether a Postgres server with TLS answers, before anything logs in: a driver that waits for a server which
 * it cannot reach says nothing for minutes.
 *
 * @param options.timeoutMs for all tries together; eight seconds where left out
 * Throws UserError with the remedy.
 */
export async function preflight(
  host: string,
  port: number,
  options: { timeoutMs?: number } = {},
): Promise<void> {
  const where = `${host}:${port}`;
  const until = Date.now() + (options.timeoutMs ?? defaultTimeoutMs);
  const answer = await askUntil(host, port, until).catch((error: unknown) => {
    throw new UserError(unreachable(where, error));
  });
  if (answer === 'S') return;
  throw new UserError({
    message: `What answers at ${where} is not a Postgres server that speaks TLS.`,
    remedy: 'See what stands between this machine and the server: a proxy, a tunnel, another service.',
  });
}

async function askUntil(host: string, port: number, until: number): Promise<string> {
  for (;;) {
    try {
      return await ask(host, port, until - Date.now());
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (!passing.includes(code) || Date.now() + betweenTriesMs >= until) throw error;
      await pause(betweenTriesMs);
    }
  }
}

/** The first byte that comes back; empty where the other side hangs up. */
function ask(host: string, port: number, timeoutMs: number): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect({ host, port });
    const late = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs);
    socket.once('connect', () => socket.write(sslRequest));
    socket.once('data', (bytes) => {
      done(String.fromCharCode(bytes[0] ?? 0));
      socket.destroy();
    });
    socket.once('error', fail);
    socket.once('close', () => {
      clearTimeout(late);
      done('');
    });
  });
}

function unreachable(where: string, error: unknown): Issue {
  const { code, message } = error as { code?: string; message?: string };
  const why = code ?? message ?? 'the connection failed';
  return { message: `The database at ${where} cannot be reached from here (${why}).`, remedy: elsewhere };
}

/**
 * The file with the certificate authorities, checked: without it nobody can know the server.
 *
 * @param folder the project's folder, which the path counts from
 * Throws UserError with the command that fetches it.
 */
export function checkCaFile(caFile: string, folder: string): void {
  if (existsSync(resolve(folder, caFile))) return;
  throw new UserError({
    path: 'aws.caFile',
    message: `There is no file ${caFile} with RDS's certificate authorities.`,
    expected: "a file in PEM format; its path counts from the project's folder",
    remedy: `curl -fsS -o ${caFile} ${caUrl}`,
  });
}
