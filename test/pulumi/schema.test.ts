import * as pulumi from '@pulumi/pulumi';
import { expect, test } from 'vitest';
import { type LedgerDatabase, OncehookSchema } from '../../infra/schema.ts';
import { readMigrations } from '../../src/ledger/migration-files.ts';
import { sourceRow } from '../postgres/harness/source-row.ts';
import { build, isSecret, plain, unwrapped } from './program/mocks.ts';

const database: LedgerDatabase = {
  connection: 'postgresql://owner:word@127.0.0.1:1/shop?sslmode=disable',
  n8nConnection: 'postgresql://oncehook_n8n:word@127.0.0.1:1/shop?sslmode=disable',
};
const secrets = [{ source: 'shop', name: 'S', key: 'aHVzaA==' }];
const schema = (more: Partial<LedgerDatabase> = {}, preview = false) =>
  build(
    () =>
      new OncehookSchema('hooks', {
        database: { ...database, ...more },
        sources: [sourceRow('shop')],
        secrets,
      }),
    { preview },
  );

test('one resource, whose inputs name each migration with its digest', async () => {
  const { made, one, result } = await schema();
  expect(made.map(({ type }) => type)).toEqual([
    'oncehook:infra:Schema',
    'pulumi-nodejs:dynamic/oncehook:Schema',
  ]);
  const { inputs, urn, opts } = one('hooks-schema');
  expect(urn).toContain('::oncehook:infra:Schema$');
  const migrations = readMigrations().map(({ name, sha256 }) => [name, sha256]);
  expect(Object.entries(inputs['migrations'] as object)).toEqual(migrations);
  expect(inputs).toMatchObject({ exclusive: false, keepData: true, sources: [{ id: 'shop' }] });
  expect(await plain(result.applied)).toEqual(['0001_tables']);
  // The schema's own delete keeps the data and says so: a retained resource would say nothing.
  expect(opts.retainOnDelete ?? false).toBe(false);
});

test('addresses and signing secrets are secrets, also where they come back as outputs', async () => {
  const { one } = await schema();
  const { inputs, opts } = one('hooks-schema');
  for (const name of ['connection', 'n8nConnection', 'secrets']) {
    expect([name, isSecret(inputs[name])]).toEqual([name, true]);
    expect(opts.additionalSecretOutputs).toContain(name);
  }
  expect(unwrapped(inputs['secrets'])).toEqual(secrets);
  const { __provider, ...rest } = inputs;
  expect(__provider).not.toMatch(/word|aHVzaA/);
  const open = Object.entries(rest).filter(([, value]) => !isSecret(value));
  expect(JSON.stringify(open)).not.toMatch(/word|aHVzaA/);
});

test('it waits for the database’s component, and goes with the database’s server', async () => {
  class Part extends pulumi.ComponentResource implements LedgerDatabase {
    readonly connection = database.connection;
    readonly n8nConnection = database.n8nConnection;
    readonly endpoint = { deletedWith: this };
    constructor() {
      super('test:index:Part', 'part');
      this.registerOutputs();
    }
  }
  const { one } = await build(() => new OncehookSchema('hooks', { database: new Part(), sources: [] }));
  const { dependsOn, deletedWith } = one('hooks-schema').opts;
  const urns = (dependsOn as pulumi.Resource[]).map(({ urn }) => plain(urn));
  expect((await Promise.all(urns)).join()).toContain('::part');
  expect(await plain((deletedWith as pulumi.Resource).urn)).toContain('::part');
});

test('a preview says which migrations will run even where the database does not answer or is not known', async () => {
  const all = readMigrations().map(({ name }) => name);
  for (const connection of [database.connection, unknown()]) {
    const { logs } = await schema({ connection }, true);
    for (const name of all) expect(logs.map(({ text }) => text).join()).toContain(name);
    expect(logs.map(({ text }) => text).join()).not.toContain('word');
  }
  expect((await schema()).logs).toEqual([]);
});

/** What an output is in a preview that cannot know it. */
function unknown(): pulumi.Output<string> {
  const output = pulumi.output('') as pulumi.Output<string> & { isKnown: Promise<boolean> };
  output.isKnown = Promise.resolve(false);
  return output;
}
