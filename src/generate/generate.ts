import { dirname, join, resolve } from 'node:path';
import { type Config, inspectConfig } from '../config/load.ts';
import { findRenames, type Rename } from '../config/renames.ts';
import { configJsonSchema } from '../config/schema.ts';
import { Bug, type Issue, UserError } from '../errors.ts';
import { packageVersion, readCompiled } from '../templates.ts';
import { serialise } from '../workflow/serialise.ts';
import { interruptible } from './interrupt.ts';
import { findLeftOver, type LeftOver } from './left-over.ts';
import { type ResolvedSource, resolveInspected } from './resolve.ts';
import { sourceWorkflow } from './source/workflow.ts';
import { editsOf, stamp, stampOf } from './stamp.ts';
import { readStatements } from './statements.ts';
import { applyWrite, type OutputFile, type PlannedFile, planWrite } from './write.ts';

const SCHEMA_FILE = 'oncehook.schema.json';
/** The file of the build that holds the JSON Schema; the sources make it anew. */
export const COMPILED_SCHEMA = 'config-schema.json';

export interface GenerateOptions {
  /** As the user named it. Default `oncehook.yaml`. */
  configFile?: string;
  /** Compare, and write nothing. */
  check?: boolean;
  /** Write over what was edited since. */
  force?: boolean;
}

/** One generated file. */
export interface GeneratedFile {
  /** Relative to the folder of the config file. */
  path: string;
  /** How it stood before: `same` files are left alone, the others are written (not with `check`). */
  state: 'new' | 'changed' | 'same';
  /** The source's id; absent for the schema of the config. */
  source?: string;
  /** What was edited since it was generated; empty for nothing. With `force`, that is lost. */
  edits: string[];
}

export interface Generated {
  sources: ResolvedSource[];
  files: GeneratedFile[];
  /** True where nothing had to be written or removed, and no left-over file stays. */
  upToDate: boolean;
  /** Those without edits are removed (not with `check`); the others stay. */
  leftOver: LeftOver[];
  /** Sources that may have lost their id by a rename. */
  renames: Rename[];
}

/**
 * Writes the workflow of every source, `<folder>/<source id>.json`, and the JSON Schema of the config beside
 * the config, and removes the files of sources that left the config. All of that or nothing; a file that is the
 * same already is not touched.
 *
 * Throws UserError for every issue of the config, for a workflow file that was edited since it was generated
 * (unless `check` or `force`), for a path outside the config's folder, and for what the disk refuses.
 */
export async function generate(options: GenerateOptions = {}): Promise<Generated> {
  const { configFile = 'oncehook.yaml', check = false, force = false } = options;
  const inspected = await inspectConfig(configFile);
  const { config } = inspected;
  const sources = resolveInspected(inspected);
  const root = dirname(resolve(configFile));
  const workflows = workflowFiles(config, sources);
  const jsonSchema = readCompiled(COMPILED_SCHEMA) ?? configJsonSchema();
  const schema = { path: SCHEMA_FILE, content: `${JSON.stringify(jsonSchema, null, 2)}\n` };
  const ids = sources.map(({ id }) => id);
  const planned = await planWrite(root, [...workflows, schema]);
  // After the plan, which has made sure that the folder is a folder of the project.
  const leftOver = await findLeftOver(root, config, ids);
  const unedited = leftOver.filter(({ edits }) => edits.length === 0);
  const removals = await planWrite(
    root,
    unedited.map(({ path }) => ({ path, content: null })),
  );
  const files = planned.map((file, index) => describe(file, sources[index]));
  if (!check) {
    if (!force) {
      refuseEdited(files);
    }
    await interruptible((signal) => applyWrite([...planned, ...removals], undefined, signal));
  }
  const fresh = new Set(files.flatMap(({ state, source }) => (state === 'new' && source ? [source] : [])));
  return {
    sources,
    files,
    upToDate: files.every(({ state }) => state === 'same') && leftOver.length === 0,
    leftOver,
    renames: findRenames(
      leftOver.filter(({ copy }) => !copy).map(({ source: id, ...rest }) => ({ id, ...rest })),
      sources.filter(({ id }) => fresh.has(id)),
    ),
  };
}

/** The workflow files of the sources, in their order. */
export function workflowFiles(config: Pick<Config, 'workflows'>, sources: ResolvedSource[]): OutputFile[] {
  const statements = readStatements();
  const generator = packageVersion();
  return sources.map((source) => ({
    path: join(config.workflows, `${source.id}.json`),
    content: serialise(
      stamp(sourceWorkflow(source, statements), {
        generator,
        project: source.project,
        source: source.id,
        provider: source.provider,
      }),
    ),
  }));
}

function describe(planned: PlannedFile, source: ResolvedSource | undefined): GeneratedFile {
  const { path, state, before } = planned;
  if (state === 'removed') {
    throw new Bug('A generated file is planned to be removed.');
  }
  if (source === undefined) {
    return { path, state, edits: [] };
  }
  const edits = state === 'changed' && before ? foreignOrEdited(before.bytes.toString(), source) : [];
  return { path, state, source: source.id, edits };
}

function foreignOrEdited(text: string, source: ResolvedSource): string[] {
  const owner = stampOf(text);
  return owner?.project === source.project && owner.source === source.id
    ? (editsOf(text) ?? [])
    : ['everything (it is not what Oncehook generated for this source)'];
}

function refuseEdited(files: GeneratedFile[]): void {
  const [first, ...rest] = files
    .filter(({ edits }) => edits.length > 0)
    .map(
      ({ path, edits }): Issue => ({
        file: path,
        message: `The file was edited since it was generated: ${edits.join(', ')}.`,
        remedy: 'Move it away to keep the edits, or write over them with --force.',
      }),
    );
  if (first) {
    throw new UserError(first, ...rest);
  }
}
