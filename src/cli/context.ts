import { dirname, resolve } from 'node:path';
import { type Config, inspectConfig } from '../config/load.ts';
import { UserError } from '../errors.ts';
import { type ResolvedSource, resolveInspected } from '../generate/resolve.ts';
import { oneOf } from '../input/schema-issues.ts';

/** What the verbs know before they begin. */
export interface Context {
  config: Config;
  sources: ResolvedSource[];
  /** Absolute: the folder of the configuration. */
  root: string;
  /** Absolute: what `oncehook dev` keeps. */
  devFolder: string;
}

/**
 * Reads the configuration and the provider files.
 * @throws UserError with every issue of them.
 */
export async function loadContext(configFile: string): Promise<Context> {
  const inspected = await inspectConfig(configFile);
  const sources = resolveInspected(inspected);
  const root = dirname(resolve(configFile));
  return { config: inspected.config, sources, root, devFolder: resolve(root, '.oncehook') };
}

/**
 * A source of the configuration by its name, or by its id.
 * @throws UserError where there is none, with the nearest.
 */
export function findSource(
  { sources, config }: Pick<Context, 'sources' | 'config'>,
  name: string,
): ResolvedSource {
  const found = sources.find((source) => source.name === name) ?? sources.find(({ id }) => id === name);
  if (found) return found;
  const known = sources.map((source) => source.name);
  if (known.length === 0) {
    throw new UserError({
      file: config.file,
      message: 'There is no source in the configuration.',
      remedy: 'Add one under `sources`.',
    });
  }
  throw new UserError({
    file: config.file,
    message: 'There is no source of this name.',
    ...oneOf(name, known),
  });
}
