import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { leaks } from './harness/leaks.ts';
import { beforeNew, type Project } from './harness/project.ts';
import { startTestServer, type TestServer } from './harness/server.ts';
import { why } from './harness/stage.ts';

const tools = inject('tools');

describe.skipIf(!tools)('pulumi new, in an empty folder', () => {
  let server: TestServer;
  let project: Project;
  let template: string;
  beforeAll(async () => {
    if (!tools) throw new Error('no tools');
    server = await startTestServer(18);
    ({ project, template } = await beforeNew(tools));
  });
  afterAll(async () => {
    await project?.remove();
    await server?.stop();
  });

  test('asks what is needed, installs, and the next up makes all of it', async () => {
    const ofStack: Record<string, string> = {
      adminPassword: server.admin.password,
      adminUser: server.admin.user,
      host: '127.0.0.1',
      sslmode: 'disable',
      target: '',
    };
    const questions = parse(readFileSync(join(template, 'Pulumi.yaml'), 'utf8')).template.config;
    // Pulumi asks in the order of the alphabet.
    expect(Object.keys(questions).sort()).toEqual(Object.keys(ofStack));
    const answers = ['hooks', '', 'dev', ...Object.values(ofStack)];
    const made = await project.answer(answers, 'new', template);
    expect(made.code, why(made)).toBe(0);

    // The one thing that nobody is asked, because few servers need it.
    const port = await project.pulumi('config', 'set', 'port', String(server.port));
    expect(port.code, why(port)).toBe(0);
    const up = await project.pulumi('up', '--yes', '--non-interactive', '--skip-preview');
    expect(up.code, why(up)).toBe(0);
    const [row] = await server.sql(
      'oncehook',
      'SELECT count(*)::int AS sources FROM oncehook.webhook_sources',
    );
    expect(row).toEqual({ sources: 3 });
    const settings = readFileSync(join(project.folder, 'Pulumi.dev.yaml'), 'utf8');
    expect(settings).toContain('hooks:adminPassword');
    expect(leaks(settings + project.transcript(), { admin: server.admin.password })).toEqual([]);
  });
});
