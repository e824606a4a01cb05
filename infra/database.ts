import * as pulumi from '@pulumi/pulumi';
import { N8N_ROLE } from '../src/ledger/n8n-role.ts';
import { urlOf } from './connection.ts';
import { type Inside, type Login, makeDatabase, makeGrants, makeRole, postgres } from './database-parts.ts';
import { lostGuarantees, ownerRole, shapeOf } from './database-plan.ts';
import type { Endpoint } from './endpoint.ts';
import type { Found } from './inspect.ts';

export interface OncehookDatabaseArgs {
  /** The server. */
  endpoint: Endpoint;
  /** The database that holds the schema; `oncehook` where left out. */
  database?: string;
  /** False: the database is there already, and stays where it is. */
  createDatabase?: boolean;
  /** False: the endpoint's admin owns the schema, where the service lets nobody create roles. */
  createRoles?: boolean;
  /**
   * The password of `oncehook_n8n`; made and kept as a secret where left out. Without `createRoles` it says that
   * the service made this role; where it is left out too, n8n logs in as the admin.
   */
  n8nPassword?: pulumi.Input<string>;
  /** Another number has the generated passwords made anew. */
  passwordVersion?: number;
  /** False: `pulumi destroy` removes what was made here. True where left out. */
  keepData?: boolean;
  /** What `inspectServer` found: it is taken over, and the rest is made. */
  found?: Found | undefined;
}

/**
 * The database, the role that owns the schema, and the role that n8n logs in as, with nothing left to anybody else.
 */
export class OncehookDatabase extends pulumi.ComponentResource {
  readonly endpoint: Endpoint;
  readonly database: string;
  /** Migrates, and owns the schema. */
  readonly owner: Login;
  /** What n8n's credential takes. */
  readonly n8n: Login;
  /** The address of the schema's owner; a secret. */
  readonly connection: pulumi.Output<string>;
  /** The address that n8n connects to; a secret. */
  readonly n8nConnection: pulumi.Output<string>;
  /** Whether the database is Oncehook's alone. */
  readonly exclusive: boolean;
  readonly keepData: boolean;

  constructor(name: string, args: OncehookDatabaseArgs, opts?: pulumi.ComponentResourceOptions) {
    super('oncehook:infra:Database', name, {}, opts);
    const { endpoint, keepData = true, n8nPassword } = args;
    const { admin, deletedWith } = endpoint;
    const shape = shapeOf(args);
    const { database, createDatabase, createRoles, n8nRole } = shape;
    for (const text of lostGuarantees(shape)) pulumi.log.warn(text, this);

    const options = { parent: this, retainOnDelete: keepData, ...(deletedWith ? { deletedWith } : {}) };
    const inside: Inside = { name, args, shape, endpoint, options };
    // Made only where it has something to make: whoever is given all needs no plugin either.
    const asAdmin = () => postgres(inside, 'admin', endpoint.maintenanceDatabase, admin);
    const provider = createDatabase || createRoles ? asAdmin() : undefined;
    const [owner, n8n] =
      provider && createRoles
        ? [
            makeRole(inside, provider, 'owner', ownerRole(database)),
            makeRole(inside, provider, 'n8n', N8N_ROLE),
          ]
        : [];
    const given = n8nRole ? { user: N8N_ROLE, password: pulumi.secret(n8nPassword ?? '') } : admin;

    this.endpoint = endpoint;
    this.database = database;
    this.exclusive = createDatabase;
    this.keepData = keepData;
    this.owner = owner ?? admin;
    this.n8n = n8n ?? given;
    this.connection = urlOf(endpoint, database, this.owner);
    this.n8nConnection = urlOf(endpoint, database, this.n8n);

    if (provider) {
      const logins = owner && n8n ? [owner.login, n8n.login] : [];
      const made = createDatabase ? [makeDatabase(inside, provider, this.owner, logins)] : logins;
      const asOwner = owner ? postgres(inside, 'as-owner', database, owner) : provider;
      makeGrants(inside, { admin: provider, asOwner, owner: this.owner }, made);
    }
    this.registerOutputs({ database });
  }
}
