import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assertSameHistory, assertSupported } from '../../../src/ledger/migration-checks.ts';
import { digestOf, type Migration, readMigrations } from '../../../src/ledger/migration-files.ts';

describe('files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'oncehook-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (...names: string[]) => names.map((name) => writeFileSync(join(folder, name), 'SELECT 1;'));

  test('are read in order, with names as the database records them; other files do not count', () => {
    write('0002_b.sql', '0001_a.sql', 'README.md', '0001_a.sql.orig');
    expect(readMigrations(folder)).toMatchObject([
      { name: '0001_a', file: join(folder, '0001_a.sql'), sql: 'SELECT 1;', sha256: digestOf('SELECT 1;') },
      { name: '0002_b' },
    ]);
  });

  test.each([
    [['0001_a.sql', '0003_c.sql']],
    [['0001_a.sql', '0001_b.sql']],
    [['0002_a.sql']],
    [['0001_Upper.sql']],
    [['first.sql']],
  ])('%j are refused', (names) => {
    write(...names);
    expect(() => readMigrations(folder)).toThrow(expect.objectContaining({ name: 'Bug' }));
  });

  test("the package's own are well named", () => {
    expect(readMigrations().length).toBeGreaterThan(0);
  });
});

test('a digest differs with every change but line endings', () => {
  expect(digestOf('a\r\nb\r\n')).toBe(digestOf('a\nb\n'));
  expect(digestOf('a\nb\n')).not.toBe(digestOf('a\nb'));
  expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test.each([
  [130_022, false],
  [140_000, true],
  [180_004, true],
  [190_000, true],
])('server version %i: supported %s', (version, supported) => {
  const check = () => assertSupported({ version, version_text: 'x' });
  if (supported) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ name: 'UserError' }));
});

describe('history', () => {
  const file = (name: string, sha256 = name): Migration => ({ name, file: `/${name}.sql`, sql: '', sha256 });
  const files = [file('0001'), file('0002'), file('0003')];
  const row = (name: string, sha256 = name) => ({ name, sha256 });

  test('every beginning of the files is right', () => {
    for (let length = 0; length <= files.length; length += 1) {
      expect(() => assertSameHistory(files.slice(0, length), files)).not.toThrow();
    }
  });

  test('every edited file is named, not the first alone', () => {
    expect(() => assertSameHistory([row('0001', 'x'), row('0002'), row('0003', 'y')], files)).toThrow(
      expect.objectContaining({
        issues: [
          expect.objectContaining({ file: '/0001.sql' }),
          expect.objectContaining({ file: '/0003.sql' }),
        ],
      }),
    );
  });

  test.each([
    ['an unknown migration', [row('0001'), row('0002'), row('0003'), row('0004')], '0004'],
    ['a gap', [row('0001'), row('0003')], '0002'],
    ['another order', [row('0002'), row('0001')], '0001'],
  ])('%s is refused', (_what, applied, name) => {
    expect(() => assertSameHistory(applied, files)).toThrow(
      expect.objectContaining({ name: 'UserError', message: expect.stringContaining(name) }),
    );
  });
});
