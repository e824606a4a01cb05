import { serialise } from '../../workflow/serialise.ts';
import type { Workflow } from '../../workflow/types.ts';
import { editsOf, stampIn, stampOf } from '../stamp.ts';
import { type MergeOptions, merge } from './merge.ts';
import { readWorkflows } from './read.ts';
import { belongs, type Owner } from './recognise.ts';
import { type Conflict, emptyReport, type LooseWorkflow, type MergeReport } from './types.ts';

/** One source's file: what the generator makes of it, what is there, and what came from n8n. */
export interface SourceFile extends Owner {
  /** As generated, with its stamp. */
  made: Workflow;
  /** `made` as text. */
  text: string;
  /** What is on the disk. */
  before?: string;
  /** An export from n8n: it stands in for what is on the disk. */
  exported?: LooseWorkflow;
  force: boolean;
}

export interface MergedFile {
  content: string;
  /** What is the user's in the file that was there; empty where nothing is. */
  edits: string[];
  conflicts: Conflict[];
  report: MergeReport;
}

/** The text for the file of one source: as generated, or joined with what the user has. */
export function mergeFile(file: SourceFile): MergedFile {
  const { made, text, before, exported, force } = file;
  const plain = { content: text, edits: [], conflicts: [], report: emptyReport() };
  if (!exported && (before === undefined || before === text)) return plain;
  const stamped = before === undefined ? undefined : stampOf(before);
  const own = stamped?.project === file.project && stamped.source === file.source;
  if (!exported) {
    const edits = own && before !== undefined ? editsOf(before) : undefined;
    if (edits?.length === 0) return plain;
    const [mine, ...more] = (before === undefined ? undefined : readWorkflows(before)) ?? [];
    if (!mine || more.length > 0 || !belongs(mine, made, stamped, file)) return foreign(plain, force);
    return joined(file, mine, { base: stamped });
  }
  const base = stampIn(exported.meta);
  // The file may be of a later generation than an export that lost its stamp.
  return joined(file, exported, base ? { base } : { base: own ? stamped : undefined, sure: false });
}

function joined(
  { made, force }: SourceFile,
  mine: LooseWorkflow,
  options: Pick<MergeOptions, 'base' | 'sure'>,
): MergedFile {
  const { workflow, conflicts, report } = merge(mine, made, { ...options, force });
  const { more, ...rest } = workflow;
  const { oncehook } = made.meta;
  const content = serialise({
    ...rest,
    ...more,
    active: false,
    meta: { ...workflow.meta, ...made.meta, ...(oncehook === undefined ? {} : { oncehook }) },
  } as unknown as Workflow);
  return { content, edits: report.kept, conflicts, report };
}

function foreign(plain: MergedFile, force: boolean): MergedFile {
  const edits = ['everything (it is not what Oncehook generated for this source)'];
  const conflict: Conflict = {
    node: '',
    parameter: 'the file',
    yours: 'another file',
    generated: 'the workflow of the source',
    reason: 'it is not what Oncehook generated for this source',
  };
  return { ...plain, edits, conflicts: force ? [] : [conflict] };
}
