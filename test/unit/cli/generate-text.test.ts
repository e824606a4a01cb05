import { describe, expect, test } from 'vitest';
import { importCommands } from '../../../src/cli/generate-text.ts';
import type { GeneratedFile } from '../../../src/generate/generate.ts';
import type { LeftOver } from '../../../src/generate/left-over.ts';

const file = (source: string, state: GeneratedFile['state']): GeneratedFile => ({
  path: `workflows/${source}.json`,
  state,
  source,
  edits: [],
  conflicts: [],
  warnings: [],
});
const schema: GeneratedFile = {
  path: 'oncehook.schema.json',
  state: 'new',
  edits: [],
  conflicts: [],
  warnings: [],
};
const edited: LeftOver = {
  ...{ path: 'workflows/old.json', source: 'old', workflow: 'old (Oncehook)' },
  ...{ edits: ['"Webhook"'], copy: false },
};
const commands = (files: GeneratedFile[], leftOver: LeftOver[] = [], configFile = 'oncehook.yaml') =>
  importCommands({ files: [...files, schema], leftOver }, configFile);
const one = (path: string) => `n8n import:workflow --input=${path}`;

describe('the import commands', () => {
  test('take the folder where all of it is new', () => {
    const whole = 'n8n import:workflow --separate --input=workflows/';
    expect(commands([file('a', 'new'), file('b', 'new')])).toEqual([whole]);
    expect(commands([file('a', 'new'), file('b', 'new')], [{ ...edited, edits: [] }])).toEqual([whole]);
  });

  test('take the written files alone where something else would come along', () => {
    expect(commands([file('a', 'new'), file('b', 'same'), file('c', 'changed')])).toEqual([
      one('workflows/a.json'),
      one('workflows/c.json'),
    ]);
    expect(commands([file('a', 'new'), file('b', 'new')], [edited])).toEqual([
      one('workflows/a.json'),
      one('workflows/b.json'),
    ]);
    expect(commands([file('a', 'same')])).toEqual([]);
  });

  test('can be typed where the configuration is elsewhere, whatever its folder is called', () => {
    expect(commands([file('a', 'new')], [], '../my shop/oncehook.yaml')).toEqual([
      one("'../my shop/workflows/a.json'"),
    ]);
  });
});
