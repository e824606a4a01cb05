import { CommanderError, InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeUrl } from '../../../src/cli/database.ts';
import { Cancelled, explainFailure } from '../../../src/cli/failure.ts';
import { invocation, startCommand, withInvocation } from '../../../src/cli/invocation.ts';
import { wholeNumber } from '../../../src/cli/options.ts';
import { webhookUrl } from '../../../src/cli/send/http.ts';
import { header } from '../../../src/cli/verbs/send.ts';
import { Bug, UserError } from '../../../src/errors.ts';

test('a whole number is one inside its bounds, and nothing else', () => {
  const parse = wholeNumber(1, 65_535);
  fc.assert(fc.property(fc.integer({ min: 1, max: 65_535 }), (value) => parse(`${value}`) === value));
  for (const text of ['0', '65536', '-1', '1.5', '1e3', '', ' 1', '0x10', '999999999999']) {
    expect(() => parse(text)).toThrow(InvalidArgumentError);
  }
});

test('a header is a name and a value that HTTP allows', () => {
  expect(header('X-Event-Id: 17')).toEqual({ 'x-event-id': '17' });
  expect(header('x-a:  b:c ', { 'x-b': '1' })).toEqual({ 'x-b': '1', 'x-a': 'b:c' });
  expect(header('x-empty:', {})).toEqual({ 'x-empty': '' });
  for (const text of ['no colon', ': x', 'a b: c', 'x-a: b\r\nx-c: d', 'x-a: \u20ac']) {
    expect(() => header(text, {})).toThrow(InvalidArgumentError);
  }
});

test('the address of a webhook', () => {
  const at = (base: string, test = false) => webhookUrl(base, 'a/b', test).href;
  expect(at('http://127.0.0.1:5678')).toBe('http://127.0.0.1:5678/webhook/a/b');
  expect(at('https://example.com/n8n/', true)).toBe('https://example.com/n8n/webhook-test/a/b');
  for (const base of ['', 'example.com', 'ftp://example.com', 'http://', 'http://a b']) {
    expect(() => at(base)).toThrow(UserError);
  }
});

test('hints name the command as the user has it', () => {
  expect(invocation({ url: 'file:///clone/src/cli/invocation.ts' })).toContain('npm run');
  expect(invocation({ url: 'file:///app/node_modules/oncehook/dist/invocation-1.js' })).toBe('npx oncehook');
  expect(withInvocation('Run: oncehook migrate', 'npx oncehook')).toBe('Run: npx oncehook migrate');
  const clone = invocation({ url: 'file:///clone/src/cli/invocation.ts' });
  expect(withInvocation('no `oncehook dev` runs: oncehook dev', clone)).toBe(
    'no `npm start` runs: npm start',
  );
  expect(withInvocation('oncehook dev', 'npx oncehook')).toBe('npx oncehook dev');
  const twice = withInvocation(
    withInvocation('oncehook dev, oncehook migrate', 'npx oncehook'),
    'npx oncehook',
  );
  expect(twice).toBe('npx oncehook dev, npx oncehook migrate');
  expect(startCommand(['--port', '1'], clone)).toBe('npm start -- --port 1');
  expect(startCommand(['--port', '1'], 'npx oncehook')).toBe('npx oncehook dev --port 1');
  expect(withInvocation('/opt/oncehook dev and oncehook_n8n and oncehook rules', 'x')).toBe(
    '/opt/oncehook dev and oncehook_n8n and oncehook rules',
  );
});

test('what a database is called holds neither user nor password', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9]{20,30}$/), (secret) => {
      const text = describeUrl(`postgresql://me_${secret}:${secret}@db.example:6000/shop`);
      expect(text).not.toContain(secret);
      expect(text).toContain('db.example:6000');
    }),
  );
  expect(describeUrl('nonsense with a secret')).not.toContain('secret');
});

test('each kind of error has its exit status, and a fault asks to be reported', async () => {
  const status = async (error: unknown) => (await explainFailure(error)).status;
  expect(await status(new UserError('x'))).toBe(2);
  expect(await status(new CommanderError(1, 'commander.unknownOption', 'x'))).toBe(2);
  expect(await status(new CommanderError(0, 'commander.helpDisplayed', 'x'))).toBe(0);
  expect(await status(new Cancelled())).toBe(130);
  expect(
    await status(Object.assign(new Error('could not extend file'), { code: '53100', severity: 'ERROR' })),
  ).toBe(2);
  expect(await status(new Error('Connection terminated unexpectedly'))).toBe(2);
  for (const error of [new Bug('x'), new TypeError('x'), 'x', undefined, null]) {
    const failure = await explainFailure(error);
    expect(failure.status).toBe(70);
    expect(failure.text.split('\n').length).toBeLessThan(9);
  }
});

test('remedies are translated, and every issue is told', async () => {
  const { text, json } = await explainFailure(
    new UserError({ message: 'a', remedy: 'Run: oncehook migrate' }, { message: 'b' }),
  );
  expect(text).toContain(`${invocation()} migrate`);
  expect(json).toMatchObject({ ok: false, error: { issues: [{ message: 'a' }, { message: 'b' }] } });
});
