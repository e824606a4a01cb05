import { createPublicKey, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { privateKey, randomPrivateKey } from '../../src/providers/key-pair.ts';
import { freePort, makeFolder, removeFolder, run } from './harness.ts';

const own = privateKey('ed25519', randomPrivateKey('ed25519'));
const published = createPublicKey(own).export({ format: 'pem', type: 'spki' }).toString();

let server: Server;
let base: string;
let folder: string;
let last: { headers: IncomingHttpHeaders; body: Buffer } | undefined;

beforeAll(async () => {
  folder = makeFolder();
  writeFileSync(
    join(folder, 'oncehook.yaml'),
    `project: keys
sources:
  chat: { provider: discord-events, secrets: [CHAT_KEY] }
  form: { provider: prodamus, secrets: [FORM_SECRET] }
`,
  );
  writeFileSync(join(folder, 'own.pem'), own.export({ format: 'pem', type: 'pkcs8' }));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      last = { headers: request.headers, body: Buffer.concat(chunks) };
      response.writeHead(200, { 'oncehook-outcome': 'new' }).end('{}');
    });
  });
  const port = await freePort();
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  base = `http://127.0.0.1:${port}`;
});

afterAll(() => {
  server.close();
  removeFolder(folder);
});

const send = (...args: string[]) =>
  run(['send', ...args, '--json'], {
    cwd: folder,
    env: { CHAT_KEY: published, FORM_SECRET: 'of the form', N8N_URL: base },
  });

test("a sender's public key signs nothing: a private key of one's own does", async () => {
  const refused = await send('chat');
  expect(refused.status).toBe(2);
  expect(refused.stderr + refused.stdout).toContain('--private-key');
  expect(last).toBeUndefined();

  expect((await send('chat', '--private-key', 'own.pem')).status).toBe(0);
  const { headers, body } = last ?? { headers: {}, body: Buffer.alloc(0) };
  const message = Buffer.concat([Buffer.from(`${headers['x-signature-timestamp']}`), body]);
  const signature = Buffer.from(`${headers['x-signature-ed25519']}`, 'hex');
  expect(verify(null, message, createPublicKey(own), signature)).toBe(true);
});

test('a key where none is looked at, and one that cannot be read, are told', async () => {
  expect((await send('form', '--private-key', 'own.pem')).status).toBe(2);
  expect((await send('chat', '--private-key', 'none.pem')).status).toBe(2);
});

test('a multipart form goes out as one, under the signature of its fields', async () => {
  expect((await send('form', '--id', 'f1')).status).toBe(0);
  const { headers, body } = last ?? { headers: {}, body: Buffer.alloc(0) };
  expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  expect(headers['sign']).toMatch(/^[0-9a-f]{64}$/);
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  expect(form.get('products[0][name]')).toBe('Курс «Чай и церемонии»');
});
