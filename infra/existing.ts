import * as pulumi from '@pulumi/pulumi';
import type { Endpoint } from './endpoint.ts';
import type { ExistingSettings } from './settings.ts';

/** A server that is there already, wherever it runs. */
export function existingEndpoint(settings: ExistingSettings, adminPassword: string): Endpoint {
  const { host, port, sslmode, sslrootcert, adminUser, createDatabase, database, maintenanceDatabase } =
    settings;
  return {
    host,
    port,
    sslmode,
    ...(sslrootcert === undefined ? {} : { sslrootcert }),
    admin: { user: adminUser, password: pulumi.secret(adminPassword) },
    // Whoever may not create databases often may not connect to another one than theirs either.
    maintenanceDatabase: createDatabase ? maintenanceDatabase : database,
    dependsOn: [],
  };
}
