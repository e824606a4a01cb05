import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { type Project, writeProject } from './harness/project.ts';

// What mocks cannot show: that the engine itself refuses, before it deletes anything, and says which setting to
// change. Needs nothing of AWS.
const tools = inject('tools');
const protection = fileURLToPath(new URL('../../infra/aws/protection.ts', import.meta.url));

describe.skipIf(!tools)('destroying a protected server', () => {
  let project: Project | undefined;
  afterEach(() => project?.remove());

  test('is refused with the name of the setting, until the setting is changed', async () => {
    if (!tools) throw new Error('no tools');
    project = await writeProject(
      tools,
      `import * as pulumi from '@pulumi/pulumi';
       import { DeletionProtection } from '${protection}';
       new DeletionProtection('hooks', new pulumi.Config().requireBoolean('protect'), {});`,
    );
    const stack = await project.stack();
    await stack.configure({ protect: true });
    expect((await stack.up()).changes).toEqual({ create: 2 });

    const refused = await project.pulumi('destroy', '--yes', '--stack', 'dev', '--non-interactive');
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain('aws.protection.deletion');
    expect(stack.stateFile()).toContain('aws.protection.deletion');

    await stack.configure({ protect: false });
    expect((await stack.up()).code).toBe(0);
    expect((await stack.destroy()).changes).toEqual({ delete: 2 });
  });
});
