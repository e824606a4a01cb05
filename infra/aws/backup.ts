import * as aws from '@pulumi/aws';
import type * as pulumi from '@pulumi/pulumi';
import { makeServiceRole, trustPolicy } from './monitoring.ts';
import type { Place } from './place.ts';

/** Sundays at 03:00 UTC; each backup is kept for five weeks, longer than points in time are. */
const schedule = 'cron(0 3 ? * SUN *)';
const keptDays = 35;

/**
 * Weekly backups by AWS Backup, in a vault of their own. Where a final snapshot is to remain, so does the vault
 * with what is in it: AWS deletes none that is not empty.
 */
export function makeBackupPlan(place: Place, key: aws.kms.Key, serverArn: pulumi.Output<string>): void {
  const { name, parent, settings, tags } = place;
  const keep = settings.protection.finalSnapshot;
  const role = makeServiceRole(
    place,
    'backup',
    trustPolicy('backup.amazonaws.com'),
    'service-role/AWSBackupServiceRolePolicyForBackup',
  );
  const vault = new aws.backup.Vault(
    `${name}-vault`,
    { kmsKeyArn: key.arn, forceDestroy: !keep, tags },
    { parent, retainOnDelete: keep },
  );
  const plan = new aws.backup.Plan(
    `${name}-backups`,
    {
      rules: [
        { ruleName: 'weekly', targetVaultName: vault.name, schedule, lifecycle: { deleteAfter: keptDays } },
      ],
      tags,
    },
    { parent },
  );
  new aws.backup.Selection(
    `${name}-backed-up`,
    { planId: plan.id, iamRoleArn: role.arn, resources: [serverArn] },
    { parent, dependsOn: role.ready },
  );
}
