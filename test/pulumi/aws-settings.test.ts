import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../infra/aws/read.ts';
import { type AwsSettingsInput, awsSettings } from '../../infra/aws/settings.ts';
import { build, existingVpc, ownVpc } from './aws/mocks.ts';

/** The paths of all issues, from the lines of the one error that carries them. */
function refusedAt(given: unknown): string[] {
  try {
    readSettings('hooks', given as AwsSettingsInput);
  } catch (error) {
    expect(pulumi.RunError.isInstance(error)).toBe(true);
    const lines = (error as Error).message.split('\n');
    return lines.filter((line) => !line.startsWith('  ')).map((line) => line.split(': ')[0] ?? '');
  }
  return [];
}

describe('settings', () => {
  it('get their defaults, and are the same when they are read again', () => {
    const read = readSettings('hooks', existingVpc);
    expect(read).toMatchObject({
      server: 'instance',
      size: 'small',
      reach: 'second-stack',
      port: 15_432,
      storage: { gib: 20, maxGib: 100 },
      protection: { deletion: true, finalSnapshot: true, multiAz: true, backupDays: 7, backupPlan: true },
      logDays: 365,
      slowQueryMs: -1,
      majorUpgrade: false,
    });
    expect(readSettings('hooks', read)).toEqual(read);
  });

  it('take the version as the number that pulumi makes of it', () => {
    expect(awsSettings.parse({ ...ownVpc, version: 18 })).toMatchObject({ version: '18' });
  });

  it('report everything at once', () => {
    const given = { ...existingVpc, version: undefined, size: 'huge', port: 80, colour: 'blue' };
    expect(refusedAt(given).toSorted()).toEqual(['aws.colour', 'aws.port', 'aws.size', 'aws.version']);
  });

  const wrong: [string, object, string][] = [
    ['the whole internet', { allow: { cidrs: { all: '0.0.0.0/0' } } }, 'aws.allow.cidrs.all'],
    ['half of the internet', { allow: { cidrs: { half: '128.0.0.0/1' } } }, 'aws.allow.cidrs.half'],
    ['the whole internet of IPv6', { allow: { cidrs: { all: '::/0' } } }, 'aws.allow.cidrs.all'],
    ['bits beyond the prefix', { allow: { cidrs: { one: '10.0.0.1/24' } } }, 'aws.allow.cidrs.one'],
    [
      'one name for two',
      { allow: { cidrs: { n8n: '10.0.0.0/24' }, securityGroups: { n8n: 'sg-0a1b2c3d' } } },
      'aws.allow.cidrs.n8n',
    ],
    ['nobody who could reach it', { allow: {} }, 'aws.allow'],
    ['no id of a group', { allow: { securityGroups: { n8n: 'n8n' } } }, 'aws.allow.securityGroups.n8n'],
    [
      'one subnet',
      { network: { kind: 'existing', vpcId: 'vpc-0a1b2c3d', subnetIds: ['subnet-0a1b2c3d'] } },
      'aws.network.subnetIds',
    ],
    ['a VPC too small', { network: { kind: 'own', cidr: '10.0.0.0/26' } }, 'aws.network.cidr'],
    ['a VPC that this machine cannot be in', { network: { kind: 'own' }, reach: 'direct' }, 'aws.reach'],
    ['nobody to hear alarms', { alarms: {} }, 'aws.alarms'],
    [
      'two to hear alarms',
      { alarms: { email: 'a@example.com', topicArn: 'arn:aws:sns:eu-west-1:123456789012:a' } },
      'aws.alarms',
    ],
    ['backups of a day', { protection: { backupDays: 1 } }, 'aws.protection.backupDays'],
    ['storage that cannot grow', { storage: { gib: 100, maxGib: 100 } }, 'aws.storage.maxGib'],
    ['a version that is none', { version: '9.6' }, 'aws.version'],
    ['a retention that the log service does not know', { logDays: 100 }, 'aws.logDays'],
  ];

  it.each(wrong)('refuse %s', (_, change, path) => {
    expect(refusedAt({ ...existingVpc, ...change })).toEqual([path]);
  });

  it.each(['1hooks', 'Hooks', 'hooks-', 'ho--oks', 'x'.repeat(41)])(
    'refuse the name %s, which AWS would refuse later',
    (name) => expect(() => readSettings(name, existingVpc)).toThrow(pulumi.RunError),
  );

  it('are checked before any resource is made', async () => {
    await expect(build({ ...existingVpc, port: 1 })).rejects.toThrow('aws.port');
  });
});
