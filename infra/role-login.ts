import * as pulumi from '@pulumi/pulumi';
import { LoginProvider } from './dynamic.ts';

export interface RoleLoginArgs {
  /** The address by which an administrator of the role connects. */
  connection: pulumi.Input<string>;
  role: pulumi.Input<string>;
  /** Pinned on the role. */
  settings: Readonly<Record<string, string>>;
  /** Another number has a new password made. */
  version: number;
  /** Made and kept where left out. */
  password?: pulumi.Input<string> | undefined;
}

/**
 * The password and the settings of a role that is there: what `postgresql.Role` would send to the server in clear,
 * and what it cannot pin. Nothing is done when the resource goes.
 */
export class RoleLogin extends pulumi.dynamic.Resource {
  /** A secret. */
  declare readonly password: pulumi.Output<string>;

  constructor(name: string, args: RoleLoginArgs, opts: pulumi.CustomResourceOptions) {
    const { connection, password } = args;
    const secrets = {
      connection: pulumi.secret(connection),
      // Named also where it is not given: only what is named becomes an output.
      password: password === undefined ? undefined : pulumi.secret(password),
    };
    super(
      new LoginProvider(),
      name,
      { ...args, ...secrets },
      { ...opts, additionalSecretOutputs: ['password'] },
      'oncehook',
      'RoleLogin',
    );
  }
}
