import type * as aws from '@pulumi/aws';
import type * as pulumi from '@pulumi/pulumi';
import type { Access } from './access.ts';
import type { ServiceRole } from './monitoring.ts';
import type { Place } from './place.ts';
import { finalSnapshotOf, planProtection } from './protection.ts';

/** What a server is made from. */
export interface Parts {
  key: aws.kms.Key;
  /** The server's name at AWS. */
  identifier: pulumi.Output<string>;
  access: Access;
  parameters: aws.rds.ParameterGroup | aws.rds.ClusterParameterGroup;
  monitoring: ServiceRole;
  logGroups: aws.cloudwatch.LogGroup[];
}

/** A server that was made, whichever kind it is. */
export interface Server {
  /** The instance or the cluster: what holds the data. */
  resource: aws.rds.Instance | aws.rds.Cluster;
  /** Beyond the resource: what must be there before anybody dials. */
  members: pulumi.Resource[];
  arn: pulumi.Output<string>;
  host: pulumi.Output<string>;
  port: pulumi.Output<number>;
  /** Holds `{"username":…,"password":…}`; RDS makes it and changes it every week. */
  adminSecretArn: pulumi.Output<string>;
  /** The names at AWS that events are about. */
  instanceIds: pulumi.Output<string>[];
}

/** The admin's name: neither `postgres` nor `admin`, which are what guessers try first. */
export const adminUser = 'oncehook_admin';

/** What the arguments of an instance and of a cluster have in common. */
export function commonArgs({ settings, tags }: Place, { key, identifier, access }: Parts) {
  return {
    engineVersion: settings.version,
    // Otherwise AWS charges by the hour and CPU for a major version that has reached its end.
    engineLifecycleSupport: 'open-source-rds-extended-support-disabled',
    allowMajorVersionUpgrade: settings.majorUpgrade,
    // Else changes wait for the maintenance window; an upgrade that waits keeps the old parameter group in use,
    // which this run is to delete.
    applyImmediately: settings.majorUpgrade,
    port: settings.port,
    storageEncrypted: true,
    kmsKeyId: key.arn,
    manageMasterUserPassword: true,
    masterUserSecretKmsKeyId: key.arn,
    iamDatabaseAuthenticationEnabled: true,
    dbSubnetGroupName: access.subnetGroup.name,
    vpcSecurityGroupIds: [access.group.id],
    ...planProtection(settings),
    finalSnapshotIdentifier: identifier.apply(finalSnapshotOf),
    databaseInsightsMode: 'standard',
    ...insights(key),
    tags,
  };
}

/** What Database Insights collects; its standard mode keeps seven days and costs nothing. */
export function insights(key: aws.kms.Key) {
  return {
    performanceInsightsEnabled: true,
    performanceInsightsKmsKeyId: key.arn,
    performanceInsightsRetentionPeriod: 7,
  };
}

/** What the arguments of every instance have in common, in a cluster or not. */
export function memberArgs({ monitoring }: Parts) {
  return {
    publiclyAccessible: false,
    autoMinorVersionUpgrade: true,
    caCertIdentifier: 'rds-ca-rsa2048-g1',
    copyTagsToSnapshot: true,
    monitoringInterval: 60,
    monitoringRoleArn: monitoring.arn,
  };
}

/** Options of the resource that holds the data. */
export function serverOptions({ parent, settings }: Place, parts: Parts): pulumi.CustomResourceOptions {
  return {
    parent,
    protect: settings.protection.deletion,
    dependsOn: [...parts.logGroups, ...parts.monitoring.ready],
  };
}

/** The ARN of the secret that RDS made for the admin. */
export function secretArnOf(secrets: pulumi.Output<{ secretArn: string }[]>): pulumi.Output<string> {
  return secrets.apply(([secret]) => secret?.secretArn ?? '');
}
