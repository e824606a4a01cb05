// Run as a process of its own: starts a server on the folder of the first argument and stays up until it is
// told to stop. Prints one line of JSON: {"pid", "port", "url"}, or {"error"}.
import { startServer } from '../../../src/ledger/embedded/server.ts';

const dataDir = process.argv[2] ?? '';
const port = process.argv[3] ? { port: Number(process.argv[3]) } : {};
try {
  const server = await startServer({ dataDir, durable: false, settings: { fsync: 'off' }, ...port });
  process.on('SIGTERM', () => void server.stop().then(() => process.exit(0)));
  console.log(JSON.stringify({ pid: server.pid, port: server.port, url: server.urlFor('postgres') }));
} catch (error) {
  const { name, message } = error as Error;
  console.log(JSON.stringify({ error: { name, message } }));
  process.exitCode = 1;
}
