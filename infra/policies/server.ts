import { advisory, atLeast, demand, holds, isNotTrue, isText, isTrue, mandatory, oneOf } from './checks.ts';
import type { Policy } from './rule.ts';
import { types } from './types.ts';

const { instance, cluster, member } = types;
const modernAuthorities = ['rds-ca-rsa2048-g1', 'rds-ca-rsa4096-g1', 'rds-ca-ecc384-g1'];
const guessable = ['postgres', 'admin', 'root', 'rdsadmin'];
const intervals = [1, 5, 10, 15, 30, 60];

/** Parts of a version; a major alone is the newest of it. */
const versionOf = (text: unknown): [major: number, minor: number] => {
  const [major = Number.NaN, minor = Number.POSITIVE_INFINITY] = String(text).split('.').map(Number);
  return [major, minor];
};

/** log_fdw let its users read files of the server (AWS-2022-004); the first good minor of each major. */
const patchedInstance = (value: unknown): boolean => {
  const [major, minor] = versionOf(value);
  const first = new Map([
    [10, 17],
    [11, 12],
    [12, 7],
    [13, 3],
  ]);
  return major >= 14 || minor >= (first.get(major) ?? Number.POSITIVE_INFINITY);
};

/** The same hole in Aurora, whose minors are numbered apart. */
const patchedAurora = (value: unknown): boolean => {
  const [major, minor] = versionOf(value);
  return major >= 12 || (major === 11 && minor >= 9) || (major === 10 && minor >= 14);
};

/** Rules about instances, on their own or in a cluster. */
export const instancePolicies: readonly Policy[] = [
  demand(mandatory('CKV_AWS_16', 'The storage is encrypted', [instance]), 'storageEncrypted', isTrue),
  demand(
    mandatory('CKV_AWS_17', 'The server has no public address', [instance, member]),
    'publiclyAccessible',
    isNotTrue,
  ),
  demand(
    mandatory('CKV_AWS_118', 'Enhanced Monitoring is on', [instance, member]),
    'monitoringInterval',
    oneOf(...intervals),
  ),
  demand(
    mandatory('CKV_AWS_129', 'Logs go to CloudWatch', [instance]),
    'enabledCloudwatchLogsExports',
    (value) => Array.isArray(value) && value.length > 0,
  ),
  demand(
    mandatory('CKV_AWS_133', 'Backups are kept for 1 to 35 days', [instance, cluster]),
    'backupRetentionPeriod',
    (value) => atLeast(1)(value) && !atLeast(36)(value),
  ),
  demand(advisory('CKV_AWS_157', 'A standby in another zone', [instance]), 'multiAz', isTrue),
  demand(
    mandatory('CKV_AWS_161', 'IAM may authenticate', [instance]),
    'iamDatabaseAuthenticationEnabled',
    isTrue,
  ),
  demand(
    mandatory('CKV_AWS_211', 'The certificate is of a current authority', [instance, member]),
    'caCertIdentifier',
    oneOf(...modernAuthorities),
  ),
  demand(
    mandatory('CKV_AWS_226', 'Minor upgrades come by themselves', [instance, member]),
    'autoMinorVersionUpgrade',
    isTrue,
  ),
  demand(
    mandatory('CKV_AWS_250', 'No version whose log_fdw reads files', [instance, cluster]),
    'engineVersion',
    (value, { engine }) => (engine === 'aurora-postgresql' ? patchedAurora(value) : patchedInstance(value)),
  ),
  demand(advisory('CKV_AWS_293', 'Deletion is refused', [instance]), 'deletionProtection', isTrue),
  demand(
    mandatory('CKV_AWS_353', 'Database Insights collects', [instance, member]),
    'performanceInsightsEnabled',
    isTrue,
  ),
  demand(
    mandatory('CKV_AWS_354', 'What it collects is encrypted with a key of ours', [instance, member]),
    'performanceInsightsKmsKeyId',
    isText,
  ),
  demand(
    mandatory('CKV_AWS_388', 'No version of Aurora that reads files', [cluster]),
    'engineVersion',
    patchedAurora,
  ),
  demand(mandatory('CKV2_AWS_60', 'Tags are copied to snapshots', [instance]), 'copyTagsToSnapshot', isTrue),
  demand(
    mandatory('RDS.2', 'The server has no public address', [instance, member]),
    'publiclyAccessible',
    isNotTrue,
  ),
  demand(mandatory('RDS.3', 'The storage is encrypted', [instance]), 'storageEncrypted', isTrue),
  demand(advisory('RDS.5', 'A standby in another zone', [instance]), 'multiAz', isTrue),
  demand(
    mandatory('RDS.6', 'Enhanced Monitoring is on', [instance, member]),
    'monitoringInterval',
    oneOf(...intervals),
  ),
  demand(advisory('RDS.8', 'Deletion is refused', [instance]), 'deletionProtection', isTrue),
  demand(
    mandatory('RDS.9', 'Every log that is of use goes to CloudWatch', [instance]),
    'enabledCloudwatchLogsExports',
    (value) => holds('postgresql')(value) && holds('upgrade')(value),
  ),
  demand(mandatory('RDS.10', 'IAM may authenticate', [instance]), 'iamDatabaseAuthenticationEnabled', isTrue),
  demand(mandatory('RDS.11', 'Backups are kept for a week', [instance]), 'backupRetentionPeriod', atLeast(7)),
  demand(
    mandatory('RDS.13', 'Minor upgrades come by themselves', [instance, member]),
    'autoMinorVersionUpgrade',
    isTrue,
  ),
  demand(mandatory('RDS.17', 'Tags are copied to snapshots', [instance]), 'copyTagsToSnapshot', isTrue),
  demand(mandatory('RDS.18', 'The server stands in a VPC', [instance]), 'dbSubnetGroupName', isText),
  demand(
    advisory('RDS.23', 'The port is not the one that scanners try', [instance, cluster]),
    'port',
    (value) => typeof value === 'number' && value !== 5432,
  ),
  demand(
    mandatory('RDS.25', "The admin's name cannot be guessed", [instance]),
    'username',
    (value) => isText(value) && !guessable.includes(value),
  ),
  demand(
    mandatory('RDS.36', "Postgres's log goes to CloudWatch", [instance]),
    'enabledCloudwatchLogsExports',
    holds('postgresql'),
  ),
];

/** Rules about clusters. */
export const clusterPolicies: readonly Policy[] = [
  demand(mandatory('CKV_AWS_96', 'The storage is encrypted', [cluster]), 'storageEncrypted', isTrue),
  demand(advisory('CKV_AWS_139', 'Deletion is refused', [cluster]), 'deletionProtection', isTrue),
  demand(
    mandatory('CKV_AWS_162', 'IAM may authenticate', [cluster]),
    'iamDatabaseAuthenticationEnabled',
    isTrue,
  ),
  demand(mandatory('CKV_AWS_313', 'Tags are copied to snapshots', [cluster]), 'copyTagsToSnapshot', isTrue),
  demand(
    mandatory('CKV_AWS_324', 'Logs go to CloudWatch', [cluster]),
    'enabledCloudwatchLogsExports',
    holds('postgresql'),
  ),
  demand(
    mandatory('CKV_AWS_327', 'The storage is encrypted with a key of ours', [cluster]),
    'kmsKeyId',
    isText,
  ),
  demand(advisory('RDS.7', 'Deletion is refused', [cluster]), 'deletionProtection', isTrue),
  demand(mandatory('RDS.12', 'IAM may authenticate', [cluster]), 'iamDatabaseAuthenticationEnabled', isTrue),
  demand(mandatory('RDS.16', 'Tags are copied to snapshots', [cluster]), 'copyTagsToSnapshot', isTrue),
  demand(
    mandatory('RDS.24', "The admin's name cannot be guessed", [cluster]),
    'masterUsername',
    (value) => isText(value) && !guessable.includes(value),
  ),
  demand(mandatory('RDS.27', 'The storage is encrypted', [cluster]), 'storageEncrypted', isTrue),
  demand(
    mandatory('RDS.35', 'Minor upgrades come by themselves', [cluster]),
    'autoMinorVersionUpgrade',
    isTrue,
  ),
];
