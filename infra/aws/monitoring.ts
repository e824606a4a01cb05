import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';

export interface ServiceRole {
  arn: pulumi.Output<string>;
  /** What must be there before the role is of use. */
  ready: pulumi.Resource[];
}

/** Who may take a role: one service of AWS; where an account is named, on that account's behalf alone. */
export function trustPolicy(service: string, accountId?: string): string {
  const condition =
    accountId === undefined ? {} : { Condition: { StringEquals: { 'aws:SourceAccount': accountId } } };
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole', ...condition }],
  });
}

/**
 * A role for one service with one policy of AWS's own.
 *
 * @param role the end of the child's name
 * @param trust from `trustPolicy`
 * @param policy the policy's path, e.g. `service-role/AmazonRDSEnhancedMonitoringRole`
 */
export function makeServiceRole(
  place: Place,
  role: string,
  trust: pulumi.Input<string>,
  policy: string,
): ServiceRole {
  const { name, parent, partition, tags } = place;
  const made = new aws.iam.Role(`${name}-${role}`, { assumeRolePolicy: trust, tags }, { parent });
  const attachment = new aws.iam.RolePolicyAttachment(
    `${name}-${role}-policy`,
    { role: made.name, policyArn: pulumi.interpolate`arn:${partition}:iam::aws:policy/${policy}` },
    { parent },
  );
  return { arn: made.arn, ready: [attachment] };
}

/** Lets RDS send the operating system's numbers (Enhanced Monitoring) to CloudWatch. */
export function makeMonitoringRole(place: Place): ServiceRole {
  const trust = place.accountId.apply((account) => trustPolicy('monitoring.rds.amazonaws.com', account));
  return makeServiceRole(place, 'monitoring', trust, 'service-role/AmazonRDSEnhancedMonitoringRole');
}
