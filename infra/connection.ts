import { relative, resolve } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import type { Endpoint, SslMode } from './endpoint.ts';

/** Everything of a connection to one database, in plain values. */
export interface Connection {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  sslmode: SslMode;
  sslrootcert?: string | undefined;
}

/**
 * The address of a connection, with libpq's meaning of `sslmode`, which is also that of Pulumi's Postgres provider:
 * `require` encrypts and trusts any certificate, unless an authority is named.
 */
export function connectionUrl(to: Connection): string {
  const part = encodeURIComponent;
  const host = to.host.includes(':') ? `[${to.host}]` : to.host;
  const query = new URLSearchParams({ uselibpqcompat: 'true', sslmode: to.sslmode });
  if (to.sslrootcert !== undefined) query.set('sslrootcert', to.sslrootcert);
  return `postgresql://${part(to.user)}:${part(to.password)}@${host}:${to.port}/${part(to.database)}?${query}`;
}

/**
 * The address of a database on an endpoint, for one login; a secret. `sslrootcert` is the authority's file as whoever
 * connects finds it: the processes of this run, unless it is given.
 */
export function urlOf(
  endpoint: Endpoint,
  database: pulumi.Input<string>,
  login: { user: pulumi.Input<string>; password: pulumi.Input<string> },
  sslrootcert: string | undefined = authorityFile(endpoint),
): pulumi.Output<string> {
  const { host, port, sslmode } = endpoint;
  const url = pulumi
    .all([host, port, database, login.user, login.password])
    .apply(([at, on, name, user, password]) =>
      connectionUrl({ host: at, port: on, database: name, user, password, sslmode, sslrootcert }),
    );
  return pulumi.secret(url);
}

/**
 * The authority's file as the processes of this run find it: they all work in the program's folder, which is not
 * always the project's. Relative, so that the state is the same on every machine.
 */
export function authorityFile({ sslrootcert }: Pick<Endpoint, 'sslrootcert'>): string | undefined {
  if (sslrootcert === undefined) return undefined;
  return relative(process.cwd(), resolve(pulumi.getRootDirectory(), sslrootcert));
}
