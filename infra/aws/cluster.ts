import * as aws from '@pulumi/aws';
import { logExports } from './logs.ts';
import type { Place } from './place.ts';
import {
  adminUser,
  commonArgs,
  insights,
  memberArgs,
  type Parts,
  type Server,
  secretArnOf,
  serverOptions,
} from './server.ts';
import { sizes } from './sizes.ts';

/** An Aurora Serverless v2 cluster: a writer, and a reader in another zone where the settings say so. */
export function makeCluster(place: Place, parts: Parts): Server {
  const { name, parent, settings, tags } = place;
  const { minAcu, maxAcu } = sizes[settings.size].aurora;
  const cluster = new aws.rds.Cluster(
    `${name}-server`,
    {
      ...commonArgs(place, parts),
      clusterIdentifier: parts.identifier,
      engine: 'aurora-postgresql',
      engineMode: 'provisioned',
      autoMinorVersionUpgrade: true,
      serverlessv2ScalingConfiguration: { minCapacity: minAcu, maxCapacity: maxAcu },
      masterUsername: adminUser,
      dbClusterParameterGroupName: parts.parameters.name,
      enabledCloudwatchLogsExports: [...logExports.aurora],
    },
    serverOptions(place, parts),
  );
  const members = Array.from(
    { length: settings.protection.multiAz ? 2 : 1 },
    (_, index) =>
      new aws.rds.ClusterInstance(
        `${name}-server-${index + 1}`,
        {
          ...memberArgs(parts),
          ...insights(parts.key),
          identifier: parts.identifier.apply((identifier) => `${identifier}-${index + 1}`),
          clusterIdentifier: cluster.id,
          engine: 'aurora-postgresql',
          instanceClass: 'db.serverless',
          dbSubnetGroupName: parts.access.subnetGroup.name,
          // The first one writes; the others take over in their order.
          promotionTier: index,
          tags,
        },
        // Not the reader: multiAz may be taken back.
        { parent, protect: settings.protection.deletion && index === 0 },
      ),
  );
  return {
    resource: cluster,
    members,
    arn: cluster.arn,
    host: cluster.endpoint,
    port: cluster.port,
    adminSecretArn: secretArnOf(cluster.masterUserSecrets),
    instanceIds: members.map(({ identifier }) => identifier),
  };
}
