import * as pulumi from '@pulumi/pulumi';
import type { AwsSettings } from './settings.ts';

/** What keeps a server from being lost, as the arguments of an instance or a cluster have it. */
export interface ProtectionPlan {
  deletionProtection: boolean;
  skipFinalSnapshot: boolean;
  /** Not the backups of the last days either, where a final snapshot is to remain. */
  deleteAutomatedBackups: boolean;
  backupRetentionPeriod: number;
  copyTagsToSnapshot: true;
}

/** The settings in AWS's words. */
export function planProtection({ protection }: Pick<AwsSettings, 'protection'>): ProtectionPlan {
  return {
    deletionProtection: protection.deletion,
    skipFinalSnapshot: !protection.finalSnapshot,
    deleteAutomatedBackups: !protection.finalSnapshot,
    backupRetentionPeriod: protection.backupDays,
    copyTagsToSnapshot: true,
  };
}

/** The name of the last snapshot. The server's own name is never used twice, and so neither is this one. */
export function finalSnapshotOf(identifier: string): string {
  return `${identifier}-final`;
}

/** What `pulumi destroy` will do, in sentences for a person; an output of the stack. */
export function tellDestroy({ protection }: Pick<AwsSettings, 'protection'>, identifier: string): string {
  const first = protection.deletion
    ? 'pulumi destroy is refused: set aws.protection.deletion to false and run pulumi up first.'
    : 'pulumi destroy deletes the server.';
  const then = protection.finalSnapshot
    ? `The final snapshot ${finalSnapshotOf(identifier)} remains, with its KMS key and the backups.`
    : 'Nothing of its data remains: aws.protection.finalSnapshot is false.';
  return `${first} ${then}`;
}

/**
 * A resource that stands for nothing at AWS. While it is protected, the preview of `pulumi destroy` fails before
 * anything is deleted, and the name that Pulumi's message quotes says which setting to change: the message itself
 * cannot be chosen, and AWS's own refusal would come after alarms and network are half gone.
 *
 * It is there whether protected or not: one that left with the setting could not leave, being protected.
 */
export class DeletionProtection extends pulumi.ComponentResource {
  constructor(name: string, protect: boolean, opts: pulumi.ComponentResourceOptions) {
    const saying = `${name}-held-by-aws.protection.deletion`;
    super('oncehook:infra:DeletionProtection', saying, {}, { ...opts, protect });
    this.registerOutputs({});
  }
}
