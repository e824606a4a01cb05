import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { readSettings } from '../../infra/settings.ts';
import { configure } from './program/mocks.ts';

const LEAST = { target: 'existing', host: 'db.example', sslmode: 'verify-full', adminUser: 'root' };
const secret = ['adminPassword', 'n8nPassword', 'secrets'];

beforeEach(async () => {
  const nothing = { newResource: () => ({ id: '', state: {} }), call: () => ({}) };
  await pulumi.runtime.setMocks(nothing, 'oncehook', 'dev');
});

/** The settings for a configuration, or the text of what is wrong with it. */
function read(config: Record<string, string>, encrypted = secret) {
  configure(config, encrypted);
  try {
    return readSettings();
  } catch (error) {
    expect(pulumi.RunError.isInstance(error)).toBe(true);
    return (error as Error).message;
  }
}

test('four answers and a password are enough', () => {
  expect(read({ ...LEAST, adminPassword: 'hidden' })).toEqual({
    settings: {
      ...LEAST,
      port: 5432,
      maintenanceDatabase: 'postgres',
      database: 'oncehook',
      createDatabase: true,
      createRoles: true,
      keepData: true,
      passwordVersion: 1,
      configFile: 'oncehook.yaml',
    },
    secrets: { adminPassword: 'hidden', secrets: {} },
  });
});

test('texts become numbers, truth values and structures', () => {
  const config = { port: '6432', keepData: 'false', createRoles: 'false', passwordVersion: '7' };
  const secrets = JSON.stringify({ shop: { SHOP_SECRET: 'a' } });
  expect(read({ ...LEAST, ...config, adminPassword: 'x', secrets })).toMatchObject({
    settings: { port: 6432, keepData: false, createRoles: false, passwordVersion: 7 },
    secrets: { secrets: { shop: { SHOP_SECRET: 'a' } } },
  });
});

test('every issue is told at once, each with a remedy, and no value', () => {
  const message = read({
    target: 'existing',
    host: 'postgres://db.example/x?hush_host',
    hosst: 'hush_key',
    port: '70000',
    sslmode: 'hush_mode',
    keepData: 'hush_flag',
    secrets: '{"shop": "hush_secret"}',
  }) as string;
  for (const path of [
    'host',
    'hosst',
    'port',
    'sslmode',
    'keepData',
    'adminUser',
    'adminPassword',
    'secrets',
  ]) {
    expect(message).toMatch(new RegExp(`^Pulumi\\.dev\\.yaml: ${path}(\\.|:)`, 'm'));
  }
  expect(message.match(/remedy: /g)?.length).toBe(message.match(/^Pulumi/gm)?.length);
  expect(message).toContain('Did you mean host?');
  expect(message).not.toContain('hush');
});

test('a password that is not encrypted is refused', () => {
  const message = read({ ...LEAST, adminPassword: 'open_word' }, []) as string;
  expect(message).toMatch(/adminPassword.*in clear[\s\S]*--secret adminPassword/);
  expect(message).not.toContain('open_word');
});

test('no target: says how to set one', () => {
  expect(read({})).toContain('pulumi config set target');
});

test('another target: its own settings are asked for, the answers for the first one are passed over', () => {
  expect(read({ target: 'azure' })).toContain('existing, aws');
  const aws = JSON.stringify({
    version: '18',
    network: { kind: 'own' },
    alarms: { email: 'ops@example.com' },
  });
  expect(read({ ...LEAST, target: 'aws', aws })).toMatchObject({
    settings: { target: 'aws', aws: { version: '18' }, keepData: true },
  });
  expect(read({ target: 'aws', aws: '{"version": "3"}' })).toMatch(/^Pulumi\.dev\.yaml: aws\.version: /m);
});

test('an answer that was left empty is none', () => {
  expect(read({ ...LEAST, host: '', adminPassword: 'x' })).toContain('host: This setting is missing');
});

test('an authority’s file must be there, and verify-ca needs one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncehook-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = { ...LEAST, sslmode: 'verify-ca', adminPassword: 'x' };
  const sslrootcert = join(folder, 'ca.pem');
  expect(read(config)).toContain('sslrootcert');
  expect(read({ ...config, sslrootcert })).toContain('no such file');
  writeFileSync(sslrootcert, '');
  expect(read({ ...config, sslrootcert })).toMatchObject({ settings: { sslrootcert } });
});

test('the questions of `pulumi new` are settings, they are enough, and the password is asked for as a secret', () => {
  const { template } = parse(readFileSync(new URL('../../Pulumi.yaml', import.meta.url), 'utf8')) as {
    template: { config: Record<string, { default?: string; secret?: boolean }> };
  };
  const questions = Object.entries(template.config);
  const answers = questions.map(([key, { default: given = 'x' }]) => [key, given]);
  const hidden = questions.filter(([, question]) => question.secret).map(([key]) => key);
  expect(read(Object.fromEntries(answers), hidden)).toMatchObject({
    settings: { target: 'existing', host: 'x', adminUser: 'x' },
    secrets: { adminPassword: 'x' },
  });
});
