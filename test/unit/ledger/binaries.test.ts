import { accessSync, constants } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { findBinaries } from '../../../src/ledger/embedded/binaries.ts';
import { OWN_DATABASE } from '../../../src/ledger/embedded/failures.ts';

const { platform, arch } = process;
const pretend = (name: 'platform' | 'arch', value: string) => Object.defineProperty(process, name, { value });
afterEach(() => {
  pretend('platform', platform);
  pretend('arch', arch);
});

test.each([14, 16, 18] as const)('Postgres %i comes with its three programs', (version) => {
  const { initdb, postgres, pgCtl } = findBinaries(version);
  for (const program of [initdb, postgres, pgCtl]) accessSync(program, constants.X_OK);
});

test.each([
  ['platform', 'sunos'],
  ['arch', 's390x'],
] as const)('%s %s: named, with another way', (name, value) => {
  pretend(name, value);
  expect(() => findBinaries(18)).toThrow(
    expect.objectContaining({ name: 'UserError', message: expect.stringContaining(value) }),
  );
  expect(() => findBinaries(18)).toThrow(OWN_DATABASE);
});
