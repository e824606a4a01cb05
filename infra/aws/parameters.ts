import * as aws from '@pulumi/aws';
import type { Place } from './place.ts';
import type { AwsSettings } from './settings.ts';
import { maxConnections } from './sizes.ts';

export interface Parameter {
  name: string;
  value: string;
  applyMethod: 'pending-reboot';
}

/**
 * The parameters that differ from AWS's defaults, or that must not depend on them.
 *
 * What the log may hold: DDL as it was sent (passwords of roles are sent as SCRAM verifiers). Not the text of a
 * statement that failed, nor bound values: both can hold a webhook's body or a signing secret.
 *
 * All are applied at a restart, which the first start is: AWS reports a parameter that equals its default so,
 * and any other method would show a difference for ever.
 */
export function planParameters(settings: Pick<AwsSettings, 'server' | 'size' | 'slowQueryMs'>): Parameter[] {
  const values = {
    'rds.force_ssl': '1',
    max_connections: String(maxConnections(settings.server, settings.size)),
    log_statement: 'ddl',
    log_min_duration_statement: String(settings.slowQueryMs),
    log_min_error_statement: 'panic',
    log_lock_waits: '1',
    ...(settings.slowQueryMs < 0 ? {} : { log_parameter_max_length: '0' }),
  };
  return Object.entries(values).map(([name, value]) => ({ name, value, applyMethod: 'pending-reboot' }));
}

/** The parameter group of an instance or of a cluster; a new major version makes a new one first. */
export function makeParameters(place: Place): aws.rds.ParameterGroup | aws.rds.ClusterParameterGroup {
  const { name, parent, settings, tags } = place;
  const description = `Postgres ${settings.version} of ${name}`;
  const parameters = planParameters(settings);
  return settings.server === 'aurora'
    ? new aws.rds.ClusterParameterGroup(
        `${name}-parameters`,
        { family: `aurora-postgresql${settings.version}`, description, parameters, tags },
        { parent },
      )
    : new aws.rds.ParameterGroup(
        `${name}-parameters`,
        { family: `postgres${settings.version}`, description, parameters, tags },
        { parent },
      );
}
