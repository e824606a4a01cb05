import { type AddressInfo, createServer, type Socket } from 'node:net';
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { passwordIn } from '../../infra/aws/credentials.ts';
import { checkCaFile, preflight } from '../../infra/aws/preflight.ts';
import { UserError } from '../../src/errors.ts';
import { adminPassword, build, existingVpc, refusal, value } from './aws/mocks.ts';

const direct = { ...existingVpc, reach: 'direct' } as const;
const unreachable = new UserError({ message: 'It cannot be reached.', remedy: 'Go inside.' });

describe('the endpoint', () => {
  it('demands that the server proves who it is, and dials as the admin that RDS made', async () => {
    const { server, options } = await build(direct);
    const { endpoint } = server;
    expect(endpoint).toMatchObject({
      sslmode: 'verify-full',
      sslrootcert: 'rds-ca.pem',
      maintenanceDatabase: 'postgres',
      admin: { user: 'oncehook_admin' },
    });
    expect(await value(pulumi.output(endpoint.host))).toBe('hooks-server.rds.example');
    expect(await value(pulumi.output(endpoint.port))).toBe(15_432);
    const urns = await Promise.all(endpoint.dependsOn.map(({ urn }) => value(urn)));
    expect(urns).toEqual(['hooks-server', 'hooks-from-n8n'].map((name) => options.get(name)?.urn));
    expect(endpoint.deletedWith).toBe(endpoint.dependsOn[0]);
    expect(server.endpoint).toBe(endpoint);
  });

  it("waits for a cluster's instances as well", async () => {
    const { server } = await build({ ...direct, server: 'aurora' });
    const urns = await Promise.all(server.endpoint.dependsOn.map(({ urn }) => value(urn)));
    expect(urns.map((urn) => urn.split('::').at(-1))).toEqual([
      'hooks-server',
      'hooks-server-1',
      'hooks-server-2',
      'hooks-from-n8n',
    ]);
  });

  it('reads the password anew at each run, as a secret that stands in no input', async () => {
    const { server, calls, made } = await build(direct);
    const password = pulumi.output(server.endpoint.admin.password);
    expect(await pulumi.isSecret(password)).toBe(true);
    expect(await value(password)).toBe(adminPassword);
    expect(calls.filter(({ token }) => token.includes('getSecretVersion'))).toMatchObject([
      { inputs: { secretId: await value(server.adminSecretArn) } },
    ]);
    expect(JSON.stringify(made)).not.toContain(adminPassword);
  });

  it('is not there for a machine outside: nothing is dialled, and no secret is read', async () => {
    const seen = vi.fn(async () => {});
    const { server, calls } = await build(existingVpc, { probes: { preflight: seen } });
    expect(() => server.endpoint).toThrow(pulumi.RunError);
    expect(await value(server.host)).toBe('hooks-server.rds.example');
    expect(seen).not.toHaveBeenCalled();
    expect(calls.some(({ token }) => token.includes('getSecretVersion'))).toBe(false);
  });

  it('has no host while the server does not answer', async () => {
    const probes = {
      preflight: async () => {
        throw unreachable;
      },
    };
    const { server } = await build(direct, { probes });
    const refused = await refusal(pulumi.output(server.endpoint.host));
    expect(pulumi.RunError.isInstance(refused)).toBe(true);
    expect((refused as Error).message).toBe(unreachable.message);
  });

  it('is only warned about by a preview: the run itself may open the way', async () => {
    const warn = vi.spyOn(pulumi.log, 'warn').mockResolvedValue();
    onTestFinished(() => warn.mockRestore());
    const probes = {
      preflight: async () => {
        throw unreachable;
      },
    };
    const { server } = await build(direct, { probes, preview: true });
    expect(await value(pulumi.output(server.endpoint.host))).toBe('hooks-server.rds.example');
    expect(warn.mock.calls).toEqual([[unreachable.message, server]]);
  });

  it('is refused before anything is made where the authorities are not at hand', async () => {
    await expect(build({ ...direct, caFile: 'not/there.pem' }, { probes: { checkCaFile } })).rejects.toThrow(
      'aws.caFile',
    );
  });
});

describe('the preflight', () => {
  /** A server that does something with each connection; its port. */
  async function listen(serve: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      serve(socket);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  it('is content with a Postgres that speaks TLS, and asks it as Postgres clients do', async () => {
    let asked = '';
    const port = await listen((socket) =>
      socket.on('data', (bytes) => {
        asked = bytes.toString('hex');
        socket.write('S');
      }),
    );
    await expect(preflight('127.0.0.1', port)).resolves.toBeUndefined();
    expect(asked).toBe('0000000804d2162f');
  });

  it.each([
    ['a Postgres without TLS', (socket: Socket) => socket.on('data', () => socket.write('N'))],
    ['something else', (socket: Socket) => socket.write('HTTP/1.1 400\r\n')],
    ['one that hangs up', (socket: Socket) => socket.end()],
  ])('refuses %s', async (_, serve) => {
    const port = await listen(serve);
    await expect(preflight('127.0.0.1', port)).rejects.toThrow(UserError);
  });

  it('does not wait for one that is silent', async () => {
    const port = await listen(() => {});
    await expect(preflight('127.0.0.1', port, { timeoutMs: 50 })).rejects.toThrow('aws.reach');
  });

  it('says what to do where nothing listens, or the name is unknown', async () => {
    const port = await freePort();
    const soon = { timeoutMs: 50 };
    await expect(preflight('127.0.0.1', port, soon)).rejects.toThrow(/ECONNREFUSED[\s\S]*aws\.reach/);
    await expect(preflight('nowhere.invalid', 5432, soon)).rejects.toThrow(/aws\.reach/);
  });

  it('tries again while a new server is not known everywhere', async () => {
    const port = await freePort();
    const seen = preflight('127.0.0.1', port);
    const server = createServer((socket) => socket.on('data', () => socket.end('S')));
    onTestFinished(() => void server.close());
    await new Promise((done) => setImmediate(done));
    server.listen(port, '127.0.0.1');
    await expect(seen).resolves.toBeUndefined();
  });
});

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

describe("the admin's secret", () => {
  it.each(['', '{}', '{"password":""}', '{"password":7}', 'hunter2', '["hunter2"]'])(
    'is refused without being shown where it holds no password: %s',
    (secret) => {
      const read = () => passwordIn(secret);
      expect(read).toThrow(pulumi.RunError);
      expect(read).not.toThrow('hunter2');
    },
  );
});
