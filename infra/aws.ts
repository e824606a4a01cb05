import * as pulumi from '@pulumi/pulumi';
import { UserError } from '../src/errors.ts';
import { makeAccess } from './aws/access.ts';
import { makeAlarms } from './aws/alarms.ts';
import { makeBackupPlan } from './aws/backup.ts';
import { makeCluster } from './aws/cluster.ts';
import { readAdminPassword } from './aws/credentials.ts';
import { makeEvents } from './aws/events.ts';
import { makeInstance } from './aws/instance.ts';
import { makeKey } from './aws/key.ts';
import { makeLogGroups } from './aws/logs.ts';
import { makeMonitoringRole } from './aws/monitoring.ts';
import { makeNetwork } from './aws/network.ts';
import { makeParameters } from './aws/parameters.ts';
import { findPlace } from './aws/place.ts';
import { checkCaFile, preflight } from './aws/preflight.ts';
import { DeletionProtection, tellDestroy } from './aws/protection.ts';
import { readSettings } from './aws/read.ts';
import { adminUser, type Server } from './aws/server.ts';
import type { AwsSettings, AwsSettingsInput } from './aws/settings.ts';
import { makeTopic } from './aws/topic.ts';
import type { Endpoint } from './endpoint.ts';
import { asRunError } from './errors.ts';

/** Plain data, as under `aws` in the stack configuration; ids may also be outputs of the same program. */
export type AwsPostgresArgs = AwsSettingsInput;

/** What touches the network or the disk of the machine that runs the program. */
export interface Probes {
  preflight: typeof preflight;
  checkCaFile: typeof checkCaFile;
}

/**
 * A Postgres server on AWS, with its network, key, logs, alarms and backups.
 *
 * ```ts
 * const server = new AwsPostgres('oncehook', {
 *   version: '18',
 *   network: { kind: 'own' },
 *   alarms: { email: 'ops@example.com' },
 * });
 * export const { host, port, adminSecretArn } = server;
 * ```
 *
 * Throws pulumi.RunError for settings that do not fit, before any resource is made.
 */
export class AwsPostgres extends pulumi.ComponentResource {
  readonly host: pulumi.Output<string>;
  readonly port: pulumi.Output<number>;
  readonly adminUser: string = adminUser;
  /** The secret in Secrets Manager that holds the admin's password; RDS changes the password every week. */
  readonly adminSecretArn: pulumi.Output<string>;
  readonly vpcId: pulumi.Output<string>;
  /** Where n8n can stand in a VPC of our own; empty in one that was there before. */
  readonly workloadSubnetIds: pulumi.Output<string[]>;
  /** What `pulumi destroy` will do, in sentences. */
  readonly destroying: pulumi.Output<string>;

  readonly #settings: AwsSettings;
  readonly #server: Server;
  readonly #waitFor: pulumi.Resource[];
  readonly #probes: Probes;
  #endpoint: Endpoint | undefined;

  constructor(
    name: string,
    args: AwsPostgresArgs,
    opts: pulumi.ComponentResourceOptions = {},
    probes: Probes = { preflight, checkCaFile },
  ) {
    const settings = readSettings(name, args);
    if (settings.reach === 'direct') requireCaFile(settings.caFile, probes);
    super('oncehook:infra:AwsPostgres', name, {}, opts);
    this.#settings = settings;
    this.#probes = probes;

    const place = findPlace(name, this, settings);
    const key = makeKey(place);
    // A name that is never used twice: snapshots and log groups of an earlier server may still be there.
    const identifier = key.keyId.apply((id) => `${name}-${id.slice(0, 8)}`);
    const network = makeNetwork(place);
    const access = makeAccess(place, network);
    const parts = {
      key,
      identifier,
      access,
      parameters: makeParameters(place),
      monitoring: makeMonitoringRole(place),
      logGroups: makeLogGroups(place, key, identifier),
    };
    new DeletionProtection(name, settings.protection.deletion, { parent: this });
    const server = settings.server === 'aurora' ? makeCluster(place, parts) : makeInstance(place, parts);
    const topicArn = makeTopic(place, key);
    makeAlarms(place, identifier, topicArn);
    makeEvents(place, topicArn, { 'db-cluster': [identifier], 'db-instance': server.instanceIds });
    if (settings.protection.backupPlan) makeBackupPlan(place, key, server.arn);

    this.#server = server;
    this.#waitFor = [server.resource, ...server.members, ...access.rules];
    this.host = server.host;
    this.port = server.port;
    this.adminSecretArn = server.adminSecretArn;
    this.vpcId = pulumi.output(network.vpcId);
    this.workloadSubnetIds = pulumi.output(network.workloadSubnetIds);
    this.destroying = identifier.apply((id) => tellDestroy(settings, id));
    this.registerOutputs({
      host: this.host,
      port: this.port,
      adminSecretArn: this.adminSecretArn,
      vpcId: this.vpcId,
      workloadSubnetIds: this.workloadSubnetIds,
      destroying: this.destroying,
    });
  }

  /**
   * The server as the rest of the program sees it. Reading it reads the admin's password; its host is known
   * only once the server was seen to answer, so nothing dials one that cannot be reached.
   *
   * Throws pulumi.RunError where `reach` says that this machine is outside.
   */
  get endpoint(): Endpoint {
    this.#endpoint ??= this.#makeEndpoint();
    return this.#endpoint;
  }

  #makeEndpoint(): Endpoint {
    const { reach, caFile } = this.#settings;
    if (reach !== 'direct') {
      throw new pulumi.RunError(
        'aws.reach is second-stack: this stack ends with the server.\n' +
          '  remedy: Go on with a second stack inside the VPC, whose target is existing ' +
          '(docs/provisioning-aws.md), or set aws.reach to direct where this machine can reach the VPC.',
      );
    }
    const { resource } = this.#server;
    return {
      host: pulumi
        .output({ host: this.host, port: this.port, urns: this.#waitFor.map(({ urn }) => urn) })
        .apply(({ host, port }) => this.#seen(host, port)),
      port: this.port,
      sslmode: 'verify-full',
      sslrootcert: caFile,
      admin: { user: adminUser, password: readAdminPassword(this.adminSecretArn, this) },
      maintenanceDatabase: 'postgres',
      dependsOn: this.#waitFor,
      deletedWith: resource,
    };
  }

  /** The host, once it answers. A preview only warns: the change that opens the way may be in this very run. */
  async #seen(host: string, port: number): Promise<string> {
    try {
      await this.#probes.preflight(host, port);
    } catch (error) {
      if (!(error instanceof UserError && pulumi.runtime.isDryRun())) throw asRunError(error);
      await pulumi.log.warn(error.message, this);
    }
    return host;
  }
}

function requireCaFile(caFile: string, probes: Probes): void {
  try {
    probes.checkCaFile(caFile, pulumi.getRootDirectory() || process.cwd());
  } catch (error) {
    throw asRunError(error);
  }
}
