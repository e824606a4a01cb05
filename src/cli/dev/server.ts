import { isIPv4, isIPv6, connect as open } from 'node:net';
import { join } from 'node:path';
import { UserError } from '../../errors.ts';
import { findServer } from '../../ledger/embedded/running.ts';
import { type Server, startServer } from '../../ledger/embedded/server.ts';
import { N8N_ROLE } from '../../ledger/n8n-role.ts';
import { DATABASE } from './databases.ts';
import { FILES, writePrivate } from './folder.ts';

export const DEFAULT_PORT = 54_329;
const LOOPBACK = '127.0.0.1';

/**
 * Starts the development Postgres. It listens on 127.0.0.1, and on one more address where `listen` names one; there
 * nobody but n8n's role gets in.
 * @throws UserError as `startServer` does, and where the port is taken or the address is not one of this machine.
 */
export async function startDevServer(
  devFolder: string,
  port: number,
  listen: string | undefined,
): Promise<Server> {
  const dataDir = join(devFolder, FILES.data);
  const settings = listen === undefined ? {} : await reachable(devFolder, listen);
  let server: Server;
  try {
    server = await startServer({ dataDir, port, settings });
  } catch (error) {
    const foreign =
      error instanceof UserError && (await answers(LOOPBACK, port)) && !(await findServer(dataDir));
    throw foreign ? portTaken(port) : error;
  }
  if (listen !== undefined && !(await answers(isWildcard(listen) ? LOOPBACK : listen, port))) {
    await server.stop();
    throw new UserError({
      message: `Postgres cannot listen on ${listen}.`,
      expected: 'an address of this machine, such as that of the bridge of Docker (ip addr show docker0)',
      remedy: 'Name another address with --listen.',
    });
  }
  return server;
}

/** The settings for an address beside 127.0.0.1. */
async function reachable(devFolder: string, listen: string): Promise<Record<string, string>> {
  if (!isIPv4(listen) && !isIPv6(listen)) {
    throw new UserError({
      message: 'The value of --listen is no address.',
      expected: 'an IPv4 or IPv6 address such as 172.17.0.1, or 0.0.0.0 for all',
    });
  }
  const file = join(devFolder, FILES.access);
  await writePrivate(
    file,
    [
      '# Who may connect to the development database. From other machines: n8n alone.',
      '# TYPE DATABASE USER ADDRESS METHOD',
      'host all all 127.0.0.1/32 scram-sha-256',
      `host ${DATABASE} ${N8N_ROLE} 0.0.0.0/0 scram-sha-256`,
      `host ${DATABASE} ${N8N_ROLE} ::/0 scram-sha-256`,
      '',
    ].join('\n'),
    // Postgres reads it, which may run as another user; it holds no secret.
    0o644,
  );
  return { listen_addresses: isWildcard(listen) ? listen : `${LOOPBACK},${listen}`, hba_file: file };
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0';
}

function portTaken(port: number): UserError {
  return new UserError({
    message: `Port ${port} on ${LOOPBACK} is taken by another program.`,
    remedy:
      `Choose another port, e.g. --port ${port + 1} (n8n's credential then needs it too), or stop that program ` +
      `(\`ss -ltnp 'sport = :${port}'\` or \`lsof -i :${port}\` shows it).`,
  });
}

/** Whether something accepts connections there. */
function answers(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = open({ host, port, timeout: 2_000 });
    const end = (result: boolean) => {
      socket.destroy();
      done(result);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
