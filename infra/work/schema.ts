import type pg from 'pg';
import { renameWarning } from '../../src/config/renames.ts';
import { UserError } from '../../src/errors.ts';
import { connect } from '../../src/ledger/connect.ts';
import { pinOwnSettings } from '../../src/ledger/login.ts';
import { planMigrations } from '../../src/ledger/migrate.ts';
import { grantN8nRights, N8N_ROLE, N8N_SETTINGS } from '../../src/ledger/n8n-role.ts';
import { bringUp } from '../../src/ledger/rollout.ts';
import { addSecret } from '../../src/ledger/secrets.ts';
import type { SourceRow } from '../../src/ledger/sources.ts';
import { readTemplate } from '../../src/templates.ts';
import { removeSchema } from './remove.ts';
import { digest, isUnknown, plainErrors, SETTING, tell } from './tell.ts';

/** A signing secret on its way into the ledger. */
export interface SigningSecret {
  /** The source's id. */
  source: string;
  name: string;
  /** The bytes of the key, in base64. */
  key: string;
}

export interface SchemaInputs {
  /** The address by which the schema's owner connects. */
  connection: string;
  /** The address by which n8n connects. */
  n8nConnection: string;
  /** Name and SHA-256 of every migration of this version: what a preview shows the difference of. */
  migrations: Record<string, string>;
  /** SHA-256 of the statements that grant n8n's role its rights. */
  grants: string;
  sources: SourceRow[];
  secrets: SigningSecret[];
  /** The database is Oncehook's alone: what everybody may do in it is taken away. */
  exclusive: boolean;
  keepData: boolean;
}

/** Digests and names. */
export interface SchemaOutputs {
  /** Of the server and the database. */
  target: string;
  migrations: Record<string, string>;
  grants: string;
  /** The migrations that the database has. */
  applied: string[];
  sourcesDigest: string;
  /** By source and name; of the same key as the secret input, and so a secret too. */
  secrets: Record<string, string>;
  exclusive: boolean;
  keepData: boolean;
  /** Only where the data goes with the resource: then there must be a way to it. */
  connection?: string;
  n8nConnection?: string;
}

/** How the schema comes into a database, and goes. */
export const schemaWork = {
  async diff(olds: SchemaOutputs, news: SchemaInputs): Promise<{ changes: boolean }> {
    const { target, sourcesDigest, secrets } = digestsOf(news);
    const same =
      olds.target === target &&
      digest(olds.migrations) === digest(news.migrations) &&
      olds.grants === news.grants &&
      olds.sourcesDigest === sourcesDigest &&
      // A secret that is not at hand on this machine stays as it is.
      Object.entries(secrets).every(([name, value]) => olds.secrets[name] === value) &&
      olds.exclusive === news.exclusive &&
      olds.keepData === news.keepData &&
      (news.keepData || (olds.connection === news.connection && olds.n8nConnection === news.n8nConnection));
    return { changes: !same || (await isBehind(news.connection)) };
  },

  async create(inputs: SchemaInputs): Promise<{ id: string; outs: SchemaOutputs }> {
    return { id: 'oncehook', outs: await bring(inputs, {}) };
  },

  async update(olds: SchemaOutputs, news: SchemaInputs): Promise<{ outs: SchemaOutputs }> {
    return { outs: await bring(news, olds.target === digestsOf(news).target ? olds.secrets : {}) };
  },

  async delete(olds: SchemaOutputs): Promise<void> {
    const { connection, n8nConnection, exclusive } = olds;
    if (olds.keepData || connection === undefined || n8nConnection === undefined) {
      tell(
        'The schema oncehook stays where it is, with everything in it (keepData is true). To remove it too: ' +
          '`pulumi config set keepData false` and `pulumi up` before `pulumi destroy`.',
      );
      return;
    }
    await plainErrors(() => removeSchema({ connection, n8nConnection, exclusive }));
  },
};

/**
 * Whether the database lacks migrations, though the state says that it has them: it was dropped and made anew, or
 * restored from an old backup. Of a database that cannot be asked nothing is said here.
 */
async function isBehind(connection: string): Promise<boolean> {
  try {
    return (await planMigrations(connection, { setting: SETTING })).pending.length > 0;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return (error.cause as { code?: unknown } | undefined)?.code === NO_SUCH_DATABASE;
  }
}

const NO_SUCH_DATABASE = '3D000';

function bring(inputs: SchemaInputs, known: Record<string, string>): Promise<SchemaOutputs> {
  return plainErrors(async () => {
    const target = { url: inputs.connection, setting: SETTING };
    const role = userOf(inputs.n8nConnection) === N8N_ROLE;
    const done = await bringUp(target, inputs.sources, (client) => grantN8nRights(client, { role }));
    for (const name of done.migrations.pending) tell(`migration ${name}: ran`);
    for (const { id, change } of done.sources) tell(`source ${id}: ${change}`);
    for (const rename of done.renames) tell(`Warning: ${renameWarning(rename)}`);
    const client = await connect(target.url, target);
    try {
      await storeSecrets(client, inputs.secrets);
      if (inputs.exclusive) await closePublic(client);
    } finally {
      await client.end();
    }
    await checkN8nLogin(inputs.n8nConnection);
    const stored = new Set(inputs.secrets.map(({ source }) => source));
    for (const id of done.withoutSecret.filter((source) => !stored.has(source))) {
      tell(
        `Warning: source ${id} has no signing secret, so that every delivery is rejected. Set it, under the name ` +
          `that oncehook.yaml gives it: pulumi config set --secret --path 'secrets["${id}"].<NAME>'`,
      );
    }
    const { secrets, ...digests } = digestsOf(inputs);
    const { migrations, grants, exclusive, keepData, connection, n8nConnection } = inputs;
    return {
      ...digests,
      ...{ migrations, grants, exclusive, keepData },
      applied: done.migrations.applied,
      secrets: { ...known, ...secrets },
      ...(keepData ? {} : { connection, n8nConnection }),
    };
  });
}

function digestsOf(inputs: SchemaInputs): Pick<SchemaOutputs, 'target' | 'sourcesDigest' | 'secrets'> {
  return {
    target: isUnknown(inputs.connection) ? '' : digest(placeOf(inputs.connection)),
    sourcesDigest: digest(inputs.sources),
    secrets: Array.isArray(inputs.secrets)
      ? Object.fromEntries(inputs.secrets.map(({ source, name, key }) => [`${source}/${name}`, digest(key)]))
      : {},
  };
}

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port}${pathname}`;
}

function userOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

async function storeSecrets(client: pg.Client, secrets: readonly SigningSecret[]): Promise<void> {
  for (const { source, name, key } of secrets) {
    const secret = { sourceId: source, name, key: Buffer.from(key, 'base64') };
    const stored = await addSecret(client, { ...secret, whenNameTaken: 'keep-old' });
    if (stored.change !== 'kept') tell(`source ${source}: secret ${name} ${stored.change}`);
    if (stored.renamed !== undefined) {
      tell(
        `source ${source}: the ${name} before stays live as "${stored.renamed}". Once the sender signs with the ` +
          `new one alone: oncehook secrets retire ${source} "${stored.renamed}"`,
      );
    }
  }
}

async function closePublic(client: pg.Client): Promise<void> {
  await client.query(readTemplate('sql/provision-close-public.sql'));
  const { rowCount } = await client.query(
    "SELECT FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = 'public' AND a.grantee = 0",
  );
  if (rowCount === 0) return;
  tell(
    'Warning: before Postgres 15 only a superuser can take the schema public from everybody, n8n included. ' +
      'As one, in this database: REVOKE ALL ON SCHEMA public FROM PUBLIC',
  );
}

/** Logs in as n8n will, and pins what nobody else could pin. */
async function checkN8nLogin(url: string): Promise<void> {
  const client = await connect(url, { setting: `${SETTING} (n8nPassword)` });
  try {
    await pinOwnSettings(client, N8N_SETTINGS);
  } finally {
    await client.end();
  }
}
