import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../config/load.ts';
import { noEntry, orUndefined } from './file-errors.ts';
import { editsOf, stampOf } from './stamp.ts';

/**
 * A generated workflow file of this project that no source of the configuration has. Where the whole folder is
 * imported, n8n would take it in again, under the path that another source may have by now.
 */
export interface LeftOver {
  /** Relative to the folder of the config file. */
  path: string;
  /** The id of the source that it was generated for. */
  source: string;
  /** That source's provider, where the file tells. */
  provider?: string;
  /** What the workflow is called in n8n. */
  workflow: string;
  /** What makes the file the user's: then it stays. Empty where `generate` removes it. */
  edits: string[];
  /** True where the source is still configured, and this is one more copy of its workflow. */
  copy: boolean;
}

/** The left-over files in the folder of the workflows, by name. `sources` are the ids that are configured. */
export async function findLeftOver(
  root: string,
  config: Pick<Config, 'project' | 'workflows'>,
  sources: readonly string[],
): Promise<LeftOver[]> {
  const folder = resolve(root, config.workflows);
  const entries = (await orUndefined(readdir(folder, { withFileTypes: true }), noEntry)) ?? [];
  const known = new Set(sources.map((id) => `${id}.json`));
  const found: LeftOver[] = [];
  for (const entry of entries.filter(({ name }) => name.endsWith('.json') && !known.has(name))) {
    const text = await orUndefined(readFile(join(folder, entry.name), 'utf8'), () => true);
    const stamp = text === undefined ? undefined : stampOf(text);
    if (text === undefined || stamp?.project !== config.project) continue;
    const { source, provider } = stamp;
    found.push({
      path: join(config.workflows, entry.name),
      source,
      ...(typeof provider === 'string' ? { provider } : {}),
      workflow: String((JSON.parse(text) as { name?: unknown }).name),
      edits: [
        ...(editsOf(text) ?? []),
        ...(entry.name === `${source}.json` ? [] : ['the name of the file']),
        ...(entry.isFile() ? [] : ['the file, which is a symbolic link']),
      ],
      copy: sources.includes(source),
    });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}
