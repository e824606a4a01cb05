import { createServer, type Socket } from 'node:net';
import pg from 'pg';

/** A transaction pooler with one server connection; ends its clients when closed. */
export interface Pooler {
  url: string;
  close(): Promise<void>;
}

const AUTHENTICATED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const ready = (inTransaction: boolean) => message('Z', Buffer.from(inTransaction ? 'T' : 'I'));

/**
 * Stands before the server at `target` as PgBouncer does in its transaction mode: every client is let in,
 * and each query runs on whatever connection is free: always the same one here. Speaks only as much of the
 * protocol as simple queries with text results need.
 */
export async function startPooler(target: string): Promise<Pooler> {
  const backend = new pg.Client({ connectionString: target });
  await backend.connect();
  let queue: Promise<unknown> = Promise.resolve();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
    let pending = Buffer.alloc(0);
    let started = false;
    let inTransaction = false;
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const headed = started ? 1 : 0;
        if (pending.length < headed + 4) return;
        const length = pending.readInt32BE(headed) + headed;
        if (pending.length < length) return;
        const type = started ? String.fromCharCode(pending[0] ?? 0) : '';
        const body = pending.subarray(headed + 4, length);
        pending = pending.subarray(length);
        if (!started) {
          started = true;
          socket.write(Buffer.concat([AUTHENTICATED, ready(false)]));
        } else if (type === 'Q') {
          const sql = body.toString('utf8', 0, body.length - 1);
          if (/^BEGIN/i.test(sql)) inTransaction = true;
          // Each query of its own is a transaction of its own, and gets the connection that is free.
          queue = queue.then(async () =>
            socket.write(Buffer.concat([await answer(backend, sql), ready(inTransaction)])),
          );
        } else if (type === 'X') socket.end();
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' && address ? address.port : 0);
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      await backend.end();
    },
  };
}

async function answer(backend: pg.Client, sql: string): Promise<Buffer> {
  if (/^(BEGIN|COMMIT|ROLLBACK)/i.test(sql)) return message('C', Buffer.from('BEGIN\0'));
  const { rows, fields } = await backend.query<string[]>({ text: sql, rowMode: 'array' });
  const names = fields.map(({ name, dataTypeID }) => {
    const rest = Buffer.alloc(18);
    rest.writeInt32BE(dataTypeID, 6);
    return Buffer.concat([Buffer.from(`${name}\0`), rest]);
  });
  const count = Buffer.alloc(2);
  count.writeInt16BE(fields.length);
  const lines = rows.map((row) => {
    const cells = row.map((value) => {
      const size = Buffer.alloc(4);
      if (value === null) {
        size.writeInt32BE(-1);
        return size;
      }
      const text = Buffer.from(typeof value === 'boolean' ? (value ? 't' : 'f') : String(value));
      size.writeInt32BE(text.length);
      return Buffer.concat([size, text]);
    });
    return message('D', Buffer.concat([count, ...cells]));
  });
  return Buffer.concat([
    message('T', Buffer.concat([count, ...names])),
    ...lines,
    message('C', Buffer.from('SELECT\0')),
  ]);
}
