import type * as pulumi from '@pulumi/pulumi';

export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

/** A Postgres server that database, roles and schema are made in, wherever it came from. */
export interface Endpoint {
  host: pulumi.Input<string>;
  port: pulumi.Input<number>;
  sslmode: SslMode;
  /** A file with the authority's certificate (PEM), for a private CA; relative to the project's folder. */
  sslrootcert?: string;
  /** Who makes database and roles. The password is a secret. */
  admin: { user: pulumi.Input<string>; password: pulumi.Input<string> };
  /** The database that the admin connects to first. */
  maintenanceDatabase: pulumi.Input<string>;
  /** What must be there before anything dials. */
  dependsOn: pulumi.Resource[];
  /** Whose deletion takes everything inside with it (RDS instance): nothing dials a server that is gone. */
  deletedWith?: pulumi.Resource;
}
