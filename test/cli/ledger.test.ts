import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CONFIG, type Dev, freePort, makeFolder, removeFolder, run, startDev } from './harness.ts';

/** The verbs that work on a database, against one development database that is up all the time. */
let folder: string;
let dev: Dev;

beforeAll(async () => {
  folder = makeFolder();
  dev = await startDev(['--port', `${await freePort()}`], { cwd: folder, keep: true });
});

afterAll(async () => {
  await dev?.stop();
  removeFolder(folder);
});

const oncehook = (args: string[], more: { env?: Record<string, string>; input?: string } = {}) =>
  run(args, { cwd: folder, ...more });

async function json(args: string[], more: { env?: Record<string, string>; input?: string } = {}) {
  const { status, stdout } = await oncehook([...args, '--json'], more);
  return { status, ...JSON.parse(stdout) };
}

const outcomes = ({ deliveries }: { deliveries: { outcome: string }[] }) =>
  deliveries.map(({ outcome }) => outcome);

test('send: one event, however often and however many at once', async () => {
  const inTurn = await json(['send', 'bank', '--to-ledger', '--times', '3', '--id', 'a1']);
  expect([inTurn.status, outcomes(inTurn)]).toEqual([0, ['new', 'duplicate', 'duplicate']]);
  const again = await json(['send', 'bank', '--to-ledger', '--id', 'a1']);
  expect(outcomes(again)).toEqual(['duplicate']);
  const atOnce = await json(['send', 'bank', '--to-ledger', '--times', '12', '--concurrency', '6']);
  expect(outcomes(atOnce).sort()).toEqual([...Array(11).fill('duplicate'), 'new']);
  const unsigned = await json(['send', 'door', '--to-ledger', '--type', 'refund.succeeded']);
  expect(outcomes(unsigned)).toEqual(['new']);
});

test('send --to-ledger completes its event, --no-finish leaves it open, and status shows that one first', async () => {
  const open = await json(['send', 'bank', '--to-ledger', '--id', 'kept-open', '--no-finish']);
  expect([outcomes(open), open.finished]).toEqual([['new'], []]);
  const done = await json(['send', 'bank', '--to-ledger', '--id', 'completed', '--times', '2']);
  expect([outcomes(done), done.finished]).toMatchObject([['new', 'duplicate'], [{ status: 'success' }]]);
  const { sources } = await json(['status', '--events', '1000']);
  const events: { key: string; status: string }[] = sources.find(
    ({ id }: { id: string }) => id === 'bank',
  ).lastEvents;
  expect(events[0]).toMatchObject({ status: 'processing', key: expect.stringContaining('kept-open') });
  expect(events.find(({ key }) => key.includes('completed'))?.status).toBe('success');
  expect(events.filter(({ status }) => status === 'processing')).toHaveLength(1);
});

test('a source that came after the start has no secret yet: a restart makes one', async () => {
  const file = join(folder, 'oncehook.yaml');
  writeFileSync(file, `${CONFIG}  late: { provider: custom, secrets: [LATE_SECRET] }\n`);
  try {
    const { status, error } = await json(['send', 'late', '--to-ledger']);
    expect([status, error.issues[0].remedy]).toEqual([2, expect.stringMatching(/restart.*LATE_SECRET/)]);
  } finally {
    writeFileSync(file, CONFIG);
  }
});

test('send says that the ledger is up where n8n answers that it is not', async () => {
  const server = createServer((_, response) => {
    response.writeHead(503, { 'oncehook-outcome': 'unavailable' }).end('{"ok":false,"error":"unavailable"}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { status, hints } = await json(['send', 'bank', '--url', `http://127.0.0.1:${port}`]);
  expect([status, hints]).toEqual([1, [expect.stringContaining('.oncehook/n8n-credential.txt')]]);
});

test.each(['body', 'signature', 'time'])(
  'send --tamper %s is rejected, and that can be expected',
  async (what) => {
    const plain = await oncehook(['send', 'bank', '--to-ledger', '--tamper', what]);
    expect(plain.status).toBe(1);
    const expected = await oncehook([
      'send',
      'bank',
      '--to-ledger',
      '--tamper',
      what,
      '--expect',
      'rejected',
    ]);
    expect(expected.status).toBe(0);
  },
);

test('send --test-url has a key space of its own', async () => {
  const test = await json(['send', 'bank', '--to-ledger', '--id', 'a1', '--test-url']);
  expect(outcomes(test)).toEqual(['new']);
});

test('secrets: stored from a pipe, from a variable, listed without values, retired', async () => {
  const piped = await json(['secrets', 'add', 'bank', '--name', 'second'], { input: 'whsec_of_a_pipe\n' });
  expect(piped).toMatchObject({ status: 0, stored: [{ source: 'bank', name: 'second', change: 'added' }] });
  const signed = await json(['send', 'bank', '--to-ledger'], { env: { BANK_SECRET: 'whsec_of_a_pipe' } });
  expect(outcomes(signed)).toEqual(['new']);
  const sync = await json(['secrets', 'sync'], { env: { SHOP_SECRET: 'rotated_value' } });
  expect(sync.stored).toMatchObject([{ source: 'shop', name: 'SHOP_SECRET', change: 'added' }]);
  expect(sync.missing).toEqual([{ source: 'bank', name: 'BANK_SECRET' }]);

  const retired = await json(['secrets', 'retire', 'bank', 'second', '--yes']);
  expect(retired).toMatchObject({ status: 0, retired: true });
  const refused = await json(['send', 'bank', '--to-ledger'], { env: { BANK_SECRET: 'whsec_of_a_pipe' } });
  expect(outcomes(refused)).toEqual(['rejected']);
  const { stdout } = await oncehook(['secrets', 'list', 'bank', '--json']);
  const names = JSON.parse(stdout).secrets.map(
    ({ name, retiredAt }: { name: string; retiredAt: string | null }) => [name, retiredAt === null],
  );
  expect(names).toEqual([
    ['BANK_SECRET', true],
    ['second', false],
  ]);
});

test('secrets: neither a question nobody can answer nor an empty value goes through', async () => {
  const results = await Promise.all([
    oncehook(['secrets', 'retire', 'shop', 'SHOP_SECRET']),
    oncehook(['secrets', 'add', 'bank', '--name', 'third'], { input: '\n' }),
    oncehook(['secrets', 'add', 'bank'], {}),
    oncehook(['secrets', 'add', 'door'], { input: 'x' }),
    oncehook(['secrets', 'add', 'bank', '--from-env', 'NOT_SET']),
  ]);
  expect(results.map(({ status }) => status)).toEqual([2, 2, 2, 2, 2]);
  for (const { stdout, stderr } of results)
    expect([stdout, stderr]).toEqual(['', expect.stringMatching(/./)]);
});

test('no verb prints a secret', async () => {
  const kept = readFileSync(join(folder, '.oncehook/secrets.env'), 'utf8');
  const env = { BANK_SECRET: parseEnv(kept)['BANK_SECRET'] ?? '', SHOP_SECRET: 'another_rotated_value' };
  const verbs = [
    ['secrets', 'sync'],
    ['secrets', 'list'],
    ['secrets', 'add', 'bank', '--name', 'again'],
    ['send', 'shop', '--to-ledger', '--tamper', 'time'],
    ['send', 'shop', '--to-ledger'],
    ['status'],
    ['migrate'],
  ];
  const calls = verbs.flatMap((verb) => [verb, [...verb, '--json']]);
  for (const { stdout, stderr } of await Promise.all(calls.map((args) => oncehook(args, { env })))) {
    expect(stdout + stderr).not.toBe('');
    for (const value of Object.values(env)) expect(stdout + stderr).not.toContain(value);
  }
});

test('status counts, and explains a run that is longer than its lease', async () => {
  await json(['send', 'shop', '--to-ledger', '--id', 'slow', '--no-finish']);
  await dev.line(({ key, kind }) => /slow$/.test(String(key)) && kind === 'lapsed');
  const { status, sources } = await json(['status']);
  const shop = sources.find(({ id }: { id: string }) => id === 'shop');
  expect(status).toBe(0);
  expect(shop.lapsed).toBeGreaterThan(0);
  expect(shop.hints.join()).toContain('2s');
  const taken = await json(['send', 'shop', '--to-ledger', '--id', 'slow']);
  expect(outcomes(taken)).toEqual(['reclaimed']);
  await dev.line(
    ({ key, kind, attempts }) => /slow$/.test(String(key)) && kind === 'reclaimed' && attempts === 2,
  );
});

test('migrate --plan changes nothing and says what migrate then does', async () => {
  const file = join(folder, 'oncehook.yaml');
  writeFileSync(file, CONFIG.replace('max_attempts: 3', 'max_attempts: 4'));
  try {
    const wanted = [{ id: 'shop', change: 'updated', fields: ['max_attempts'] }];
    expect((await json(['migrate', '--plan'])).sources).toEqual(wanted);
    expect((await json(['migrate', '--plan'])).sources).toEqual(wanted);
    const done = await json(['migrate']);
    expect([done.status, done.sources, done.migrations.pending]).toEqual([0, wanted, []]);
    expect((await json(['migrate', '--plan'])).sources).toEqual([]);
  } finally {
    writeFileSync(file, CONFIG);
  }
});

test('migrate warns of a source under another name, and names the sources without a secret', async () => {
  const file = join(folder, 'oncehook.yaml');
  writeFileSync(file, CONFIG.replace('  shop:', '  myshop:'));
  try {
    const planned = await json(['migrate', '--plan']);
    expect(planned.renames).toEqual([{ gone: 'shop', added: ['myshop'] }]);
    expect(planned.withoutSecret).toEqual(['myshop']);
    const { stdout, stderr } = await oncehook(['migrate']);
    expect(stderr).toContain('`id: shop` under myshop');
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('secrets add myshop');
  } finally {
    writeFileSync(file, CONFIG);
    expect((await json(['migrate'])).withoutSecret).toEqual([]);
  }
});

test('the database that a variable names goes before the development one', async () => {
  const env = { ONCEHOOK_DATABASE_URL: 'postgresql://me:hidden_word@127.0.0.1:1/x' };
  const { status, stderr } = await oncehook(['status'], { env });
  expect(status).toBe(2);
  expect(stderr).toContain('127.0.0.1:1');
  expect(stderr).not.toContain('hidden_word');
});
