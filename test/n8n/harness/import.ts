import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowFile } from '../../../src/n8n/workflows.ts';
import { type Place, runCommand } from './n8n.ts';

/** Imports a workflow as a user does it by hand: `n8n import:workflow --input=<file>`. Needs the file's `id`. */
export async function importByCommand(place: Place, workflow: WorkflowFile): Promise<void> {
  const file = join(tmpdir(), `oncehook-import-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(workflow));
  try {
    const said = await runCommand(place, 'import:workflow', `--input=${file}`);
    if (!/Successfully imported 1 workflow/.test(said)) throw new Error(`n8n import:workflow said:\n${said}`);
  } finally {
    await rm(file, { force: true });
  }
}
