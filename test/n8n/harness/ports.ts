import { type AddressInfo, createServer } from 'node:net';

/** Free TCP ports on 127.0.0.1, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) await new Promise((done) => server.close(done));
  return ports;
}
