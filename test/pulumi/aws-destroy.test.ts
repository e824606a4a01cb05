import { describe, expect, it } from 'vitest';
import { build, existingVpc, identifier, value } from './aws/mocks.ts';

const kinds = ['instance', 'aurora'] as const;

describe.each(kinds)('destroying a server of kind %s', (server) => {
  const settings = { ...existingVpc, server };
  const type = server === 'aurora' ? 'aws:rds/cluster:Cluster' : 'aws:rds/instance:Instance';

  it('is refused by Pulumi before its first step, with the name of the setting to change', async () => {
    const built = await build(settings);
    const held = [...built.options.values()].filter(({ protect }) => protect).map(({ urn }) => urn);
    const saying = held.filter((urn) => urn.includes('aws.protection.deletion'));
    expect(saying).toHaveLength(1);
    expect(held).toContain(built.options.get('hooks-server')?.urn);
    expect(await value(built.server.destroying)).toContain('aws.protection.deletion');
  });

  it('leaves a last snapshot, and what is needed to read it', async () => {
    const built = await build({ ...settings, protection: { deletion: false } });
    expect(built.one(type).inputs).toMatchObject({
      deletionProtection: false,
      skipFinalSnapshot: false,
      finalSnapshotIdentifier: `${identifier}-final`,
      deleteAutomatedBackups: false,
    });
    for (const name of ['hooks-key', 'hooks-vault']) {
      expect(built.options.get(name)?.retainOnDelete, name).toBe(true);
    }
    expect(built.one('aws:backup/vault:Vault').inputs).toMatchObject({ forceDestroy: false });
    expect([...built.options.values()].filter(({ protect }) => protect)).toEqual([]);
    expect(await value(built.server.destroying)).toContain(`${identifier}-final`);
  });

  it('leaves nothing where that is what the settings say', async () => {
    const built = await build({ ...settings, protection: { deletion: false, finalSnapshot: false } });
    expect(built.one(type).inputs).toMatchObject({ skipFinalSnapshot: true, deleteAutomatedBackups: true });
    for (const name of ['hooks-key', 'hooks-vault']) {
      expect(built.options.get(name)?.retainOnDelete, name).toBe(false);
    }
    expect(built.one('aws:backup/vault:Vault').inputs).toMatchObject({ forceDestroy: true });
    expect(await value(built.server.destroying)).not.toContain(`${identifier}-final`);
  });
});
