import * as pulumi from '@pulumi/pulumi';
import { readMigrations } from '../src/ledger/migration-files.ts';
import { grants } from '../src/ledger/n8n-role.ts';
import type { SourceRow } from '../src/ledger/sources.ts';
import { announceMigrations } from './announce.ts';
import { SchemaProvider } from './dynamic.ts';
import type { Endpoint } from './endpoint.ts';
import type { SchemaInputs, SigningSecret } from './work/schema.ts';
import { digest } from './work/tell.ts';

/** A database that a schema can be brought into: an `OncehookDatabase`, or the addresses of any other. */
export interface LedgerDatabase {
  /** The address of the schema's owner. */
  connection: pulumi.Input<string>;
  /** The address that n8n connects to, as `oncehook_n8n` or as the schema's owner. */
  n8nConnection: pulumi.Input<string>;
  /** True: nobody else uses the database, so that everybody's rights in it are taken away. */
  exclusive?: boolean;
  /** False: `pulumi destroy` drops the schema. True where left out. */
  keepData?: boolean;
  endpoint?: Pick<Endpoint, 'deletedWith'>;
}

export interface OncehookSchemaArgs {
  database: LedgerDatabase;
  /** The sources; `readConfiguration` reads them from oncehook.yaml. A source that leaves is switched off. */
  sources: SourceRow[];
  /** The signing secrets at hand; one that is not among them stays as the database has it. */
  secrets?: pulumi.Input<SigningSecret[]>;
}

/** The schema `oncehook` in a database: its migrations, the rights of n8n's role, the sources, the signing secrets. */
export class OncehookSchema extends pulumi.ComponentResource {
  /** The names of the migrations that the database has. */
  readonly applied: pulumi.Output<string[]>;

  constructor(name: string, args: OncehookSchemaArgs, opts?: pulumi.ComponentResourceOptions) {
    super('oncehook:infra:Schema', name, {}, opts);
    const { database, sources } = args;
    const { exclusive = false, keepData = true } = database;
    const files = readMigrations();
    const migrations = Object.fromEntries(files.map((file) => [file.name, file.sha256]));
    const announced = pulumi.runtime.isDryRun() ? announceMigrations(database.connection, this) : undefined;
    const schema = new SchemaResource(
      `${name}-schema`,
      {
        connection: database.connection,
        n8nConnection: database.n8nConnection,
        // Waits, so that the announcement belongs to the preview.
        migrations: Promise.resolve(announced).then(() => migrations),
        grants: digest(grants(true)),
        sources,
        secrets: args.secrets ?? [],
        exclusive,
        keepData,
      },
      {
        parent: this,
        ...(database instanceof pulumi.ComponentResource ? { dependsOn: [database] } : {}),
        ...(database.endpoint?.deletedWith ? { deletedWith: database.endpoint.deletedWith } : {}),
      },
    );
    this.applied = schema.applied;
    this.registerOutputs({ applied: this.applied });
  }
}

type SchemaResourceArgs = { [name in keyof SchemaInputs]: pulumi.Input<SchemaInputs[name]> };

class SchemaResource extends pulumi.dynamic.Resource {
  declare readonly applied: pulumi.Output<string[]>;

  constructor(name: string, args: SchemaResourceArgs, opts: pulumi.CustomResourceOptions) {
    const { connection, n8nConnection, secrets } = args;
    super(
      new SchemaProvider(),
      name,
      {
        ...args,
        connection: pulumi.secret(connection),
        n8nConnection: pulumi.secret(n8nConnection),
        secrets: pulumi.secret(secrets),
        applied: undefined,
      },
      { ...opts, additionalSecretOutputs: ['connection', 'n8nConnection', 'secrets'] },
      'oncehook',
      'Schema',
    );
  }
}
