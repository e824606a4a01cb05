import { dirname, join } from 'node:path';
import type { Generated, GeneratedFile } from '../generate/generate.ts';
import type { LeftOver } from '../generate/left-over.ts';
import type { Conflict } from '../generate/merge/types.ts';
import { invocation } from './invocation.ts';
import { count, type Output, printable } from './output.ts';

/**
 * The commands that bring the written workflows into n8n, as they can be typed in the working directory: of the whole
 * folder where all of it is new, else of each written file.
 */
export function importCommands(
  { files, leftOver }: Pick<Generated, 'files' | 'leftOver'>,
  configFile: string,
): string[] {
  const here = (path: string) => join(dirname(configFile), path);
  const workflows = files.filter(({ source }) => source !== undefined);
  const written = workflows.filter(({ state }) => state !== 'same');
  const [first] = written;
  // What stays in the folder would be imported with it.
  const whole = leftOver.every(({ edits }) => edits.length === 0);
  if (first && whole && written.length > 1 && workflows.every(({ state }) => state === 'new')) {
    return [importFolderCommand(here(dirname(first.path)))];
  }
  return written.map(({ path }) => `n8n import:workflow --input=${shellWord(here(path))}`);
}

/** The command that brings every workflow of a folder into n8n. */
export function importFolderCommand(folder: string): string {
  return `n8n import:workflow --separate --input=${shellWord(`${folder}/`)}`;
}

/** What `generate` did, or with `check` would do. */
export function generateText(
  generated: Generated,
  { check, configFile }: { check: boolean; configFile: string },
  out: Output,
): string {
  const { files, leftOver, written, skipped } = generated;
  return [
    ...files.flatMap((file) => fileLines(file, !written, out)),
    ...skipped.map((name) => `skipped "${printable(name, 80)}": it is the workflow of no source.`),
    ...leftOver.map((file) => out.paint('yellow', leftOverLine(file, !written))),
    ...summary(generated, check, configFile),
  ].join('\n');
}

function fileLines(file: GeneratedFile, unwritten: boolean, out: Output): string[] {
  const { path, state, edits, merged, conflicts } = file;
  const words = unwritten
    ? { new: 'missing', changed: 'out of date', same: 'up to date' }
    : { new: 'written', changed: 'updated', same: 'unchanged' };
  const told = [
    ['yours', edits],
    ['back', merged?.restored ?? []],
    ['taken as generated', merged?.taken ?? []],
    ['gone', merged?.dropped ?? []],
  ] as const;
  const parts = told.flatMap(([word, names]) =>
    names.length > 0 ? [`${word}: ${names.map((name) => printable(name, 80)).join(', ')}`] : [],
  );
  const colour = state === 'same' ? 'dim' : unwritten ? 'yellow' : 'green';
  return [
    `${out.paint(colour, words[state])} ${path}${parts.length > 0 ? ` (${parts.join('; ')})` : ''}`,
    ...conflicts.map((conflict) => out.paint('red', conflictText(conflict))),
  ];
}

function conflictText({ node, parameter, yours, generated, reason }: Conflict): string {
  const place = node === '' ? parameter : `"${printable(node, 80)}", ${parameter}`;
  return [
    `  conflict in ${printable(place, 200)}: ${reason}`,
    `    yours:     ${printable(yours)}`,
    `    generated: ${printable(generated)}`,
  ].join('\n');
}

/** What became of a left-over file, and what is to be done about its workflow. */
export function leftOverLine({ path, workflow, edits, copy }: LeftOver, check: boolean): string {
  const name = printable(workflow, 80);
  if (copy) {
    return `left over ${path}: a second file of the workflow "${name}", and an import of the folder takes both. Delete it, or move it out of the folder.`;
  }
  const inN8n = `In n8n, unpublish or delete the workflow "${name}": after \`${invocation()} migrate\` it answers 401 to everything, and its path may be another's by now.`;
  if (edits.length > 0) {
    const edited = edits.map((edit) => printable(edit, 80)).join(', ');
    return `left over ${path} (edited: ${edited}): its source is no longer configured, and an import of the folder would bring it back. Delete it, or move it out of the folder. ${inN8n}`;
  }
  return check
    ? `left over ${path}: its source is no longer configured; \`${invocation()} generate\` removes it. ${inN8n}`
    : `removed ${path}: its source is no longer configured. ${inN8n}`;
}

function summary(generated: Generated, check: boolean, configFile: string): string[] {
  const { files, leftOver, upToDate } = generated;
  const conflicts = files.reduce((sum, file) => sum + file.conflicts.length, 0);
  if (conflicts > 0 && !generated.written) {
    return [
      `${count(conflicts, 'conflict')}: nothing ${check ? 'can be' : 'was'} written. Make yours as generated (or put it into ${configFile}), or take what is generated for these nodes with --force; everything else of yours stays either way.`,
    ];
  }
  if (upToDate) return ['Everything is up to date.'];
  const written = files.filter(({ state }) => state !== 'same');
  const removed = leftOver.filter(({ edits }) => edits.length === 0).length;
  if (check) {
    const stale = count(written.length + leftOver.length, 'file is', 'files are');
    // What was edited, only the user can put right.
    const run = written.length + removed > 0 ? ` Run: ${invocation()} generate` : '';
    return [`${stale} not up to date.${run}`];
  }
  const commands = importCommands(generated, configFile);
  const done = [
    ...(written.length > 0 ? [`${count(written.length, 'file')} written`] : []),
    ...(removed > 0 ? [`${count(removed, 'file')} removed`] : []),
  ];
  return [
    done.length > 0 ? `${done.join(', ')}.` : 'Nothing had to be written.',
    ...(commands.length > 0 ? ['Into n8n, then publish:', ...commands.map((command) => `  ${command}`)] : []),
    ...(written.some(({ source, state }) => source !== undefined && state === 'changed')
      ? [
          `An import unpublishes the workflow and replaces its nodes by the file's. What you changed in n8n since, export first (n8n export:workflow --id=<id> --output=export.json), then run: ${invocation()} generate --merge export.json`,
        ]
      : []),
  ];
}

function shellWord(path: string): string {
  return /^[\w./@%+,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
