import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { afterAll, expect, test } from 'vitest';
import { readConfiguration } from '../../infra/configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'oncehook-configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'oncehook.yaml');
const YAML = `project: trial
credential: Ledger
sources:
  bank:
    provider: stripe
    secrets: [BANK_SECRET, BANK_SECRET_NEXT]
  shop-eu:
    id: shop
    provider: custom
    secrets: [SHOP_SECRET]
    signature: { secret_encoding: hex }
  door:
    provider: yookassa
`;

type Given = Parameters<typeof readConfiguration>[1];
async function read(given: Given = {}, env: NodeJS.ProcessEnv = {}, yaml = YAML) {
  writeFileSync(file, yaml);
  return readConfiguration(file, given, env);
}

/** The text of what is wrong. */
async function refusal(...args: Parameters<typeof read>): Promise<string> {
  const error: unknown = await read(...args).catch((reason: unknown) => reason);
  expect(pulumi.RunError.isInstance(error)).toBe(true);
  return (error as Error).message;
}

const inClear = ({ source, name, key }: { source: string; name: string; key: string }) =>
  `${source}/${name}=${Buffer.from(key, 'base64').toString('latin1')}`;

test('a secret of the stack goes before one of the environment, and one that is nowhere is left alone', async () => {
  const { secrets } = await read(
    { bank: { BANK_SECRET: 'of the stack' } },
    { BANK_SECRET: 'of the environment', SHOP_SECRET: '68' },
  );
  expect(secrets.map(inClear)).toEqual(['bank/BANK_SECRET=of the stack', 'shop/SHOP_SECRET=h']);
});

test('sources are what the table holds, and no secret is among them', async () => {
  const { sources, project, credential } = await read({ bank: { BANK_SECRET: 'hushed' } });
  expect([project, credential]).toEqual(['trial', 'Ledger']);
  expect(sources.map(({ id, name, provider }) => [id, name, provider])).toEqual([
    ['bank', 'bank', 'stripe'],
    ['shop', 'shop-eu', 'custom'],
    ['door', 'door', 'yookassa'],
  ]);
  expect(Object.keys(sources[0] ?? {}).sort()).toEqual(
    [
      'ack',
      'answers',
      'id',
      'key',
      'keyFormat',
      'leaseSeconds',
      'maxAttempts',
      'name',
      'object',
      'provider',
      'retentionDays',
      'rules',
      'signature',
      'toleranceSeconds',
      'type',
      'volatile',
    ].sort(),
  );
  expect(JSON.stringify(sources)).not.toContain('hushed');
});

test('a secret for no source, or of no name, is refused with the nearest, and without its value', async () => {
  const message = await refusal({
    bnk: { BANK_SECRET: 'hush_1' },
    shop: { SHOP_SECRETS: 'hush_2' },
    door: { X: 'hush_3' },
  });
  for (const text of [
    'secrets.bnk',
    'mean bank',
    'secrets.shop.SHOP_SECRETS',
    'mean SHOP_SECRET',
    'secrets.door.X',
  ]) {
    expect(message).toContain(text);
  }
  expect(message).not.toContain('hush');
});

test('a secret that cannot be decoded is refused by its place, and without its value', async () => {
  const message = await refusal({ shop: { SHOP_SECRET: 'hush, no hex' } });
  expect(message).toContain('secrets.shop.SHOP_SECRET');
  expect(message).not.toContain('hush');
});

test('what is wrong with the configuration is told with its lines, all at once', async () => {
  const broken = YAML.replace('provider: yookassa', 'provider: nobody\n    leese: 1m');
  const message = await refusal({}, {}, broken);
  expect(message).toMatch(new RegExp(`^${file}:13:\\d+: sources\\.door\\.provider: `, 'm'));
  expect(message).toMatch(new RegExp(`^${file}:14:\\d+: sources\\.door\\.leese: `, 'm'));
});
