import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Project, type Stack, writeProject } from './harness/project.ts';
import { startTestServer, type TestServer } from './harness/server.ts';
import { why } from './harness/stage.ts';

// The plugin of @pulumi/postgresql itself, whichever the others run with: what they rely on must be so.
const tools = inject('tools');

describe.skipIf(!tools)('the plugin', () => {
  let server: TestServer;
  let project: Project | undefined;
  beforeAll(async () => {
    server = await startTestServer(16);
  });
  afterAll(() => server?.stop());
  afterEach(async () => {
    await project?.remove();
    await server.wipe();
  });

  const program = (body: string, on = server) => `
    import * as pulumi from '@pulumi/pulumi';
    import * as postgresql from '@pulumi/postgresql';
    const provider = new postgresql.Provider('server', {
      host: '127.0.0.1', port: ${on.port}, sslmode: 'disable', connectTimeout: 5, superuser: false,
      username: 'admin', password: '${on.admin.password}',
    });
    const opts = { provider };
    ${body}`;

  async function open(body: string, on = server): Promise<Stack> {
    if (!tools) throw new Error('no tools');
    project = await writeProject(tools, program(body, on));
    return project.stack();
  }

  test('makes, sees what others did, changes and removes', async () => {
    const body = (change: { password: string; privileges: string }) => `
      const owner = new postgresql.Role('owner', { name: 'owner', login: true, password: '${change.password}' }, opts);
      const app = new postgresql.Role('app', { name: 'app', login: true, statementTimeout: 20000 }, opts);
      const db = new postgresql.Database('db', { name: 'shop', owner: owner.name }, { ...opts, dependsOn: app });
      const all = { database: db.name, schema: 'public' };
      const nobody = new postgresql.Grant(
        'nobody', { ...all, role: 'public', objectType: 'schema', privileges: [] }, opts);
      const use = new postgresql.Grant(
        'use', { ...all, role: app.name, objectType: 'schema', privileges: ['USAGE'] }, { ...opts, dependsOn: nobody });
      new postgresql.DefaultPrivileges('tables', {
        ...all, role: app.name, owner: owner.name, objectType: 'table', privileges: [${change.privileges}],
      }, { ...opts, dependsOn: use });
      export const id = use.id;`;
    const stack = await open(body({ password: 'first-password', privileges: "'SELECT'" }));
    const up = await stack.up();
    expect(up.changes, why(up)).toEqual({ create: 8 });
    expect(await stack.outputs()).toEqual({ id: 'app_shop_public_schema' });
    expect(stack.stateFile()).not.toContain('first-password');
    await server.sql(
      'shop',
      'GRANT CREATE ON SCHEMA public TO app',
      'ALTER ROLE app SET statement_timeout = 5',
    );

    const refresh = await stack.refresh();
    expect(refresh.changes, why(refresh)).toMatchObject({ update: 2 });
    writeFileSync(
      join(stack.project.folder, 'index.ts'),
      program(body({ password: 'second-password', privileges: "'SELECT', 'INSERT'" })),
    );
    const change = await stack.up();
    const names = change.steps.map(({ op, name }) => `${op} ${name}`).sort();
    expect(names, why(change)).toEqual(['update app', 'update owner', 'update tables', 'update use']);
    const [acl] = await server.sql(
      'shop',
      `SELECT (SELECT rolconfig FROM pg_roles WHERE rolname = 'app') AS app,
         has_schema_privilege('app', 'public', 'CREATE') AS create, has_schema_privilege('app', 'public', 'USAGE') AS use,
         (SELECT defaclacl::text FROM pg_default_acl) AS tables`,
    );
    expect(acl).toEqual({
      app: ['statement_timeout=20000'],
      create: false,
      use: true,
      tables: '{app=ar/owner}',
    });

    const destroy = await stack.destroy();
    expect(destroy.changes, why(destroy)).toEqual({ delete: 8 });
    expect(await server.sql('postgres', "SELECT FROM pg_roles WHERE rolname IN ('app', 'owner')")).toEqual(
      [],
    );
  });

  test('grants to different roles race for the same row, as on any server', async () => {
    // From 16 on a role's creator is its member, and the plugin locks members: there such grants wait for each other.
    const old = await startTestServer(14);
    try {
      const stack = await open(
        `const db = new postgresql.Database('db', { name: 'shop' }, opts);
        for (let i = 0; i < 16; i += 1) {
          const app = new postgresql.Role('app' + i, { name: 'app' + i }, opts);
          new postgresql.Grant('use' + i, {
            database: db.name, role: app.name, objectType: 'schema', schema: 'public', privileges: ['USAGE'],
          }, opts);
        }`,
        old,
      );
      const seen: string[] = [];
      for (let attempt = 0; attempt < 5 && seen.length === 0; attempt += 1) {
        await old.wipe();
        stack.forget();
        const up = await stack.up('--parallel', '32');
        seen.push(...up.errors.filter((error) => error.includes('tuple concurrently updated')));
      }
      expect(seen).not.toEqual([]);
    } finally {
      await old.stop();
    }
  });

  test.runIf(tools?.plugin === 'stand-in')('refuses what the SDK does not know', async () => {
    const stack = await open("new postgresql.Role('app', { name: 'app', canLogin: true } as never, opts);");
    // The SDK passes on what it knows, so a property of its own must be smuggled in.
    writeFileSync(
      join(stack.project.folder, 'index.ts'),
      program(`
        class Role extends pulumi.CustomResource {}
        new Role('postgresql:index/role:Role', 'app', { name: 'app', canLogin: true }, opts);`),
    );
    const up = await stack.up();
    expect(up.code).not.toBe(0);
    expect(up.output).toContain('canLogin');
  });
});
