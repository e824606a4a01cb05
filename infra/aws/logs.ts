import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';
import type { Place } from './place.ts';
import type { ServerKind } from './sizes.ts';

/** The logs that each kind of server can send to CloudWatch. */
export const logExports = {
  instance: ['postgresql', 'upgrade'],
  aurora: ['postgresql'],
} as const satisfies Record<ServerKind, string[]>;

/**
 * RDS makes a log group that is missing by itself, without a key and for ever: so they are made before it.
 *
 * @param identifier the server's name at AWS, which the groups' names hold
 */
export function makeLogGroups(
  place: Place,
  key: aws.kms.Key,
  identifier: pulumi.Output<string>,
): aws.cloudwatch.LogGroup[] {
  const { name, parent, settings, tags } = place;
  const kind = settings.server === 'aurora' ? 'cluster' : 'instance';
  return logExports[settings.server].map(
    (log) =>
      new aws.cloudwatch.LogGroup(
        `${name}-log-${log}`,
        {
          name: pulumi.interpolate`/aws/rds/${kind}/${identifier}/${log}`,
          retentionInDays: settings.logDays,
          kmsKeyId: key.arn,
          tags,
        },
        { parent },
      ),
  );
}
