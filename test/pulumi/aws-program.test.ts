import { fileURLToPath } from 'node:url';
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import program from '../../infra/index.ts';
import { mocks, value } from './aws/mocks.ts';

/** The configuration as Pulumi hands it over: objects as JSON, numbers as `config set --path` stores them. */
function configure(aws: object): void {
  pulumi.runtime.setAllConfig({
    'oncehook:target': 'aws',
    'oncehook:aws': JSON.stringify(aws),
    'oncehook:configFile': fileURLToPath(new URL('../../oncehook.yaml', import.meta.url)),
  });
}

const settings = { version: 17, network: { kind: 'own' }, alarms: { email: 'ops@example.com' } };

describe('the program with target aws', () => {
  it('reports settings of the server with their place, before anything is made', async () => {
    const { made, listen } = mocks();
    await listen();
    configure({ ...settings, size: 'huge', protection: { backupDays: 1 } });
    const refused = await program().catch((error: unknown) => error);
    expect(pulumi.RunError.isInstance(refused)).toBe(true);
    expect((refused as Error).message).toMatch(/aws\.size[\s\S]*aws\.protection\.backupDays/);
    expect(made).toEqual([]);
  });

  it('ends with the server where this machine is outside', async () => {
    const { made, calls, listen } = mocks();
    await listen();
    configure(settings);
    const outputs = await program();
    expect(Object.keys(outputs).toSorted()).toEqual(
      ['adminSecretArn', 'adminUser', 'destroying', 'host', 'port', 'vpcId', 'workloadSubnetIds'].toSorted(),
    );
    expect(await value(pulumi.output(outputs['host']))).toBe('oncehook-server.rds.example');
    expect(made.some(({ type }) => type.startsWith('postgresql:'))).toBe(false);
    expect(calls.some(({ token }) => token.includes('getSecretVersion'))).toBe(false);
  });
});
