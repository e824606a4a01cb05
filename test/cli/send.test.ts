import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort, makeFolder, removeFolder, run } from './harness.ts';

/** Stands for n8n: keeps what it gets, and answers what the test says. */
interface Request {
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let server: Server;
let base: string;
let folder: string;
let requests: Request[];
let answers: { status: number; outcome?: string; body?: string }[];
const env = { BANK_SECRET: 'whsec_trial', SHOP_SECRET: 'of the shop' };

beforeAll(async () => {
  folder = makeFolder();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      const { status, outcome, body } = answers.shift() ?? { status: 200, outcome: 'duplicate' };
      response
        .writeHead(status, outcome === undefined ? {} : { 'oncehook-outcome': outcome })
        .end(body ?? '{}');
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

beforeEach(() => {
  requests = [];
  answers = [];
});

const send = (args: string[], more: Record<string, string> = {}) =>
  run(['send', ...args, '--json'], { cwd: folder, env: { ...env, N8N_URL: base, ...more } });

test('sends one event again and again, each time signed, to the path of the source', async () => {
  answers = [{ status: 200, outcome: 'new' }];
  const { status, stdout } = await send(['bank', '--times', '3']);
  expect(status).toBe(0);
  expect(JSON.parse(stdout).deliveries).toMatchObject([
    { status: 200, outcome: 'new' },
    { status: 200, outcome: 'duplicate' },
    { status: 200, outcome: 'duplicate' },
  ]);
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  for (const { url, headers, body } of requests) {
    expect([url, headers['content-type']]).toEqual(['/webhook/bank', 'application/json']);
    const [, time, mac] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['stripe-signature'])) ?? [];
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
    expect(mac).toBe(createHmac('sha256', env.BANK_SECRET).update(`${time}.`).update(body).digest('hex'));
  }
});

test('sends the exact bytes of a file, headers, to the test URL', async () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0xff, 0x00, 0x7d]);
  writeFileSync(join(folder, 'event.bin'), bytes);
  const { status } = await send([
    'shop',
    '--event',
    'event.bin',
    '--header',
    'X-Event-Id: 17',
    '--test-url',
    '--url',
    `${base}/n8n/`,
  ]);
  expect(status).toBe(0);
  expect(requests).toMatchObject([{ url: '/n8n/webhook-test/shop', headers: { 'x-event-id': '17' } }]);
  expect(requests[0]?.body.equals(bytes)).toBe(true);
  const mac = createHmac('sha256', env.SHOP_SECRET).update(bytes).digest('hex');
  expect(requests[0]?.headers['x-signature']).toBe(mac);
});

test.each([
  ['an answer that is not 2xx', [], [{ status: 401, outcome: 'rejected' }], 1],
  ['an expected refusal', ['--expect', 'rejected'], [{ status: 401, outcome: 'rejected' }], 0],
  ['another outcome than expected', ['--expect', 'new'], [{ status: 200, outcome: 'duplicate' }], 1],
  ['an outcome that never came', ['--expect', 'new,duplicate'], [{ status: 200, outcome: 'new' }], 1],
  ['an answer that is not of the gate', [], [{ status: 404 }], 1],
])('exit status: %s', async (_, args, given, expected) => {
  answers = given;
  expect((await send(['bank', ...args])).status).toBe(expected);
});

test('tells the reason of a refusal, which is in the body of the answer', async () => {
  const body = '{"ok":false,"error":"signature wrong"}';
  answers = [{ status: 401, outcome: 'rejected', body }];
  const { stdout } = await send(['bank', '--tamper', 'signature']);
  const { deliveries, hints } = JSON.parse(stdout);
  expect(deliveries).toMatchObject([{ status: 401, reason: 'signature wrong' }]);
  expect(hints).toEqual([expect.stringContaining('--expect rejected')]);
});

test('tells a test URL that does not listen from a workflow that is not published', async () => {
  const body = '{"code":404,"message":"The requested webhook \\"bank\\" is not registered."}';
  answers = [
    { status: 404, body },
    { status: 404, body },
  ];
  const test = JSON.parse((await send(['bank', '--test-url'])).stdout);
  const production = JSON.parse((await send(['bank'])).stdout);
  expect(test.deliveries[0].reason).toContain('Execute workflow');
  expect(production.deliveries[0].reason).toContain('publish');
});

test('names a file that is not there before it asks for a secret', async () => {
  const { status, stdout } = await send(['bank', '--event', 'nothing.json'], { BANK_SECRET: '' });
  expect([status, JSON.parse(stdout).error.issues[0].file]).toEqual([2, 'nothing.json']);
});

test('says what is wrong where nothing answers', async () => {
  const { status, stdout } = await send(['bank', '--url', `http://127.0.0.1:${await freePort()}`]);
  const [issue] = JSON.parse(stdout).error.issues;
  expect([status, issue]).toEqual([
    2,
    { message: expect.any(String), remedy: expect.stringContaining('--url') },
  ]);
  expect((await send(['bank', '--url', 'n8n.example.com'])).status).toBe(2);
  expect((await send(['bank', '--event', 'nothing.json'])).status).toBe(2);
  expect((await send(['bank', '--type', 'no.such.type'])).status).toBe(2);
  expect((await send(['door', '--tamper', 'signature'])).status).toBe(2);
});
