import { readFile } from 'node:fs/promises';
import { type Issue, UserError } from '../../errors.ts';
import type { Workflow } from '../../workflow/types.ts';
import { toUserError } from '../file-errors.ts';
import { stampIn } from '../stamp.ts';
import { readWorkflows } from './read.ts';
import { belongs } from './recognise.ts';
import type { LooseWorkflow } from './types.ts';

/** What of n8n's exports belongs to the sources. */
export interface Exports {
  /** By the source's id. */
  bySource: Map<string, LooseWorkflow>;
  /** The names of workflows that are none of a source's. */
  others: string[];
}

/**
 * Reads exports from n8n and finds the source of each workflow.
 * @throws UserError for a file that cannot be read or holds no workflow of a source, and for two of one source.
 */
export async function readExports(
  files: readonly string[],
  project: string,
  sources: readonly { id: string; workflow: Workflow }[],
): Promise<Exports> {
  const bySource = new Map<string, LooseWorkflow>();
  const others: string[] = [];
  const issues: Issue[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      throw asUnreadable(error, file);
    });
    const workflows = readWorkflows(text);
    if (!workflows) {
      issues.push({
        file,
        message: 'This is no export from n8n.',
        expected: 'one workflow or a list of them, as JSON, each node with a name, a type and a position',
        remedy: 'Write one with: n8n export:workflow --id=<id> --output=<file>',
      });
      continue;
    }
    let ours = 0;
    for (const workflow of workflows) {
      const stamped = stampIn(workflow.meta);
      const source = sources.find((one) =>
        belongs(workflow, one.workflow, stamped, { project, source: one.id }),
      );
      if (!source) {
        others.push(workflow.name ?? '');
        continue;
      }
      ours += 1;
      if (bySource.has(source.id)) {
        issues.push({
          file,
          message: `A second workflow of the source ${source.id}: "${workflow.name ?? ''}".`,
          remedy: 'Delete one of the two in n8n, or export the one that is to stay.',
        });
      }
      bySource.set(source.id, workflow);
    }
    if (ours === 0) {
      issues.push({
        file,
        message: 'None of its workflows belongs to a source of the configuration.',
        remedy: 'Export the workflow that was imported from the folder of the workflows.',
      });
    }
  }
  const [first, ...rest] = issues;
  if (first) throw new UserError(first, ...rest);
  return { bySource, others };
}

function asUnreadable(error: unknown, file: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return toUserError(error, file);
  return new UserError({ file, message: 'There is no such file.', remedy: 'Name an export from n8n.' });
}
