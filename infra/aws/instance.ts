import * as aws from '@pulumi/aws';
import { logExports } from './logs.ts';
import type { Place } from './place.ts';
import {
  adminUser,
  commonArgs,
  memberArgs,
  type Parts,
  type Server,
  secretArnOf,
  serverOptions,
} from './server.ts';
import { sizes } from './sizes.ts';

/** One RDS for PostgreSQL instance, with a standby in another zone where the settings say so. */
export function makeInstance(place: Place, parts: Parts): Server {
  const { name, settings } = place;
  const instance = new aws.rds.Instance(
    `${name}-server`,
    {
      ...commonArgs(place, parts),
      ...memberArgs(parts),
      identifier: parts.identifier,
      engine: 'postgres',
      instanceClass: sizes[settings.size].instance.class,
      username: adminUser,
      storageType: 'gp3',
      allocatedStorage: settings.storage.gib,
      maxAllocatedStorage: settings.storage.maxGib,
      multiAz: settings.protection.multiAz,
      parameterGroupName: parts.parameters.name,
      enabledCloudwatchLogsExports: [...logExports.instance],
    },
    serverOptions(place, parts),
  );
  return {
    resource: instance,
    members: [],
    arn: instance.arn,
    host: instance.address,
    port: instance.port,
    adminSecretArn: secretArnOf(instance.masterUserSecrets),
    instanceIds: [instance.identifier],
  };
}
