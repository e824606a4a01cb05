import { dirname, join, resolve } from 'node:path';
import { type Config, inspectConfig } from '../config/load.ts';
import { findRenames, type Rename } from '../config/renames.ts';
import { configJsonSchema } from '../config/schema.ts';
import { Bug } from '../errors.ts';
import { catalogueOf } from '../providers/own.ts';
import { providerJsonSchema } from '../providers/schema.ts';
import { packageVersion, readCompiled } from '../templates.ts';
import { serialise } from '../workflow/serialise.ts';
import type { Workflow } from '../workflow/types.ts';
import { interruptible } from './interrupt.ts';
import { findLeftOver, type LeftOver } from './left-over.ts';
import { readExports } from './merge/exports.ts';
import { type MergedFile, mergeFile } from './merge/source-file.ts';
import type { Conflict, LooseWorkflow, MergeReport } from './merge/types.ts';
import { type ResolvedSource, resolveInspected } from './resolve.ts';
import { sourceWorkflow } from './source/workflow.ts';
import { stamp } from './stamp.ts';
import { readStatements } from './statements.ts';
import { applyWrite, type OutputFile, type PlannedFile, planWrite, withContent } from './write.ts';

const SCHEMA_FILE = 'oncehook.schema.json';
const PROVIDER_SCHEMA_FILE = 'oncehook-provider.schema.json';
/** The files of the build that hold the JSON Schemas; the sources make them anew. */
export const COMPILED_SCHEMA = 'config-schema.json';
export const COMPILED_PROVIDER_SCHEMA = 'provider-schema.json';

export interface GenerateOptions {
  /** As the user named it. Default `oncehook.yaml`. */
  configFile?: string;
  /** Compare, and write nothing. */
  check?: boolean;
  /** Where the user and the generator changed the same, take what is generated. */
  force?: boolean;
  /** Files that n8n exported: what is the user's in them goes into the workflows' files. */
  merge?: readonly string[];
}

/** One generated file. */
export interface GeneratedFile {
  /** Relative to the folder of the config file. */
  path: string;
  /** How it stood before: `same` files are left alone, the others are written (not with `check`). */
  state: 'new' | 'changed' | 'same';
  /** The source's id; absent for the schema of the config. */
  source?: string;
  /** What is the user's in it: their nodes, and what they changed in ours. It is kept. */
  edits: string[];
  /** What the user and the generator both changed. Without `force` nothing is written then. */
  conflicts: Conflict[];
  /** What the merge did besides; absent where nothing had to be merged. */
  merged?: Pick<MergeReport, 'restored' | 'taken' | 'dropped'>;
  /** What was kept and costs something. */
  warnings: string[];
}

export interface Generated {
  sources: ResolvedSource[];
  files: GeneratedFile[];
  /** True where nothing had to be written or removed, and no left-over file stays. */
  upToDate: boolean;
  /** False where a conflict, or `check`, kept everything from being written. */
  written: boolean;
  /** The names of workflows in the exports that are none of a source's. */
  skipped: string[];
  /** Those without edits are removed (not with `check`); the others stay. */
  leftOver: LeftOver[];
  /** Sources that may have lost their id by a rename. */
  renames: Rename[];
}

/**
 * Writes the workflow of every source, `<folder>/<source id>.json`, the JSON Schema of the config beside the config,
 * and that of provider files where the user has own ones; and removes the files of sources that left the config. All of that or nothing; a file that is the
 * same already is not touched. What the user has in a workflow's file, or in an export of it, is kept; where they and
 * the generator changed the same, nothing at all is written, and the conflicts are told.
 *
 * Throws UserError for every issue of the config, for an export that is none, for a path outside the config's folder,
 * and for what the disk refuses.
 */
export async function generate(options: GenerateOptions = {}): Promise<Generated> {
  const { configFile = 'oncehook.yaml', check = false, force = false, merge = [] } = options;
  const inspected = await inspectConfig(configFile);
  const { config } = inspected;
  const sources = resolveInspected(inspected);
  const root = dirname(resolve(configFile));
  const workflows = stampedWorkflows(sources);
  const exports = await readExports(merge, config.project, workflows);
  const ids = sources.map(({ id }) => id);
  const made = filesOf(config, workflows);
  const compared = await planWrite(root, [...made, ...schemaFiles(configFile)]);
  const merged = workflows.map(({ id, workflow }, index) =>
    mergeFile({
      ...{ project: config.project, source: id, made: workflow, text: made[index]?.content ?? '', force },
      ...asText(compared[index]),
      ...asExport(exports.bySource.get(id)),
    }),
  );
  const planned = compared.map((file, index) => {
    const content = merged[index]?.content;
    return content === undefined ? file : withContent(file, content);
  });
  // After the plan, which has made sure that the folder is a folder of the project.
  const leftOver = await findLeftOver(root, config, ids);
  const unedited = leftOver.filter(({ edits }) => edits.length === 0);
  const removals = await planWrite(
    root,
    unedited.map(({ path }) => ({ path, content: null })),
  );
  const files = planned.map((file, index) => describe(file, sources[index], merged[index]));
  const written = !check && (force || files.every(({ conflicts }) => conflicts.length === 0));
  if (written) {
    await interruptible((signal) => applyWrite([...planned, ...removals], undefined, signal));
  }
  const fresh = new Set(files.flatMap(({ state, source }) => (state === 'new' && source ? [source] : [])));
  return {
    sources,
    files,
    upToDate:
      files.every(({ state, conflicts }) => state === 'same' && (force || conflicts.length === 0)) &&
      leftOver.length === 0,
    written,
    skipped: exports.others,
    leftOver,
    renames: findRenames(
      leftOver.filter(({ copy }) => !copy).map(({ source: id, ...rest }) => ({ id, ...rest })),
      sources.filter(({ id }) => fresh.has(id)),
    ),
  };
}

/** The workflow files of the sources, in their order, as they are generated where nothing is the user's. */
export function workflowFiles(config: Pick<Config, 'workflows'>, sources: ResolvedSource[]): OutputFile[] {
  return filesOf(config, stampedWorkflows(sources));
}

function filesOf(
  config: Pick<Config, 'workflows'>,
  workflows: { id: string; workflow: Workflow }[],
): OutputFile[] {
  return workflows.map(({ id, workflow }) => ({
    path: join(config.workflows, `${id}.json`),
    content: serialise(workflow),
  }));
}

/** For editors: of the configuration, and of provider files where the user has own ones. */
function schemaFiles(configFile: string): OutputFile[] {
  const file = (path: string, schema: unknown) => ({ path, content: `${JSON.stringify(schema, null, 2)}\n` });
  const config = file(SCHEMA_FILE, readCompiled(COMPILED_SCHEMA) ?? configJsonSchema());
  if (catalogueOf(configFile).own().length === 0) return [config];
  const provider = readCompiled(COMPILED_PROVIDER_SCHEMA) ?? providerJsonSchema();
  return [config, file(PROVIDER_SCHEMA_FILE, provider)];
}

function stampedWorkflows(sources: ResolvedSource[]): { id: string; workflow: Workflow }[] {
  const statements = readStatements();
  const generator = packageVersion();
  return sources.map((source) => {
    const { id, project, provider } = source;
    const known = { generator, project, source: id, provider };
    return { id, workflow: stamp(sourceWorkflow(source, statements), known) };
  });
}

function asText(planned: PlannedFile | undefined): { before?: string } {
  return planned?.before ? { before: planned.before.bytes.toString() } : {};
}

function asExport(exported: LooseWorkflow | undefined): { exported?: LooseWorkflow } {
  return exported ? { exported } : {};
}

function describe(
  { path, state }: PlannedFile,
  source: ResolvedSource | undefined,
  merged: MergedFile | undefined,
): GeneratedFile {
  if (state === 'removed') {
    throw new Bug('A generated file is planned to be removed.');
  }
  if (source === undefined || merged === undefined) {
    return { path, state, edits: [], conflicts: [], warnings: [] };
  }
  const { edits, conflicts, report } = merged;
  const { restored, taken, dropped, warnings } = report;
  const did =
    restored.length + taken.length + dropped.length > 0 ? { merged: { restored, taken, dropped } } : {};
  return { path, state, source: source.id, edits, conflicts, ...did, warnings };
}
