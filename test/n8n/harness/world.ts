import { inject } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { workflowFiles } from '../../../src/generate/generate.ts';
import { type ResolvedSource, resolveSources } from '../../../src/generate/resolve.ts';
import { connect } from '../../../src/ledger/connect.ts';
import { migrate } from '../../../src/ledger/migrate.ts';
import { ensureN8nRole, N8N_ROLE } from '../../../src/ledger/n8n-role.ts';
import { addSecret } from '../../../src/ledger/secrets.ts';
import { syncSources } from '../../../src/ledger/sources.ts';
import { ensurePostgresCredential } from '../../../src/n8n/credentials.ts';
import { storedKey } from '../../../src/providers/keys.ts';
import type { Catalogue } from '../../../src/providers/load.ts';
import type { Workflow } from '../../../src/workflow/types.ts';
import { withFixtures } from '../../fixtures/catalogue.ts';
import type { Account } from './account.ts';
import { BUSINESS_TABLES, withBusiness } from './business.ts';
import type { Place } from './n8n.ts';
import { createDatabase, loginOf, query } from './postgres.ts';
import { SECRETS } from './secrets.ts';
import { type ImportWay, TestSource } from './source.ts';

const ROLE_PASSWORD = 'only-for-tests';
export interface WorldOptions {
  /** Names the database, the credentials and the paths, so that test files do not meet. */
  name: string;
  /** The part of `oncehook.yaml` below `sources:`, indented by two. */
  sources: string;
  /** Provider files of the test's own, in place of those that ship and the tests' own. */
  providers?: Catalogue;
  /** Where the ledger's database is; the shared server where left out. A superuser's connection URL. */
  postgresUrl?: string;
  /** The n8n to import into; the shared one where left out. */
  n8n?: { account: Account; place: Place };
  /** How the workflows get into n8n. */
  way?: ImportWay;
  /** False: leave "Your business logic" as it is generated. */
  business?: boolean;
}

/** A ledger of its own, its sources' workflows imported and published, with the tests' business node. */
export interface World {
  account: Account;
  place: Place;
  /** The superuser's connection URL of the ledger's database. */
  databaseUrl: string;
  /** The name of the credential that the generated nodes use. */
  credential: string;
  source(name: string): TestSource;
  /** The source's workflow, generated once more from the same configuration. */
  regenerate(name: string): Workflow;
  /** One statement in the ledger's database, as superuser. */
  sql<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** The whole way from a configuration to published workflows, as a user goes it. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const { account, place } = options.n8n ?? inject('shared');
  const credential = `Oncehook ${options.name}`;
  const { config, sources } = readConfig(options, credential);
  const databaseUrl = await createDatabase(
    options.postgresUrl ?? inject('shared').postgresUrl,
    `ledger_${options.name}`,
  );
  await prepareLedger(databaseUrl, sources);
  await query(databaseUrl, BUSINESS_TABLES);
  await ensurePostgresCredential(account, credential, n8nLogin(databaseUrl));
  const businessCredential = `Business ${options.name}`;
  await ensurePostgresCredential(account, businessCredential, loginOf(databaseUrl));

  const generate = (name: string): Workflow => {
    const again = readConfig(options, credential);
    const index = again.sources.findIndex((one) => one.name === name);
    const file = workflowFiles(config, again.sources)[index];
    const workflow = JSON.parse(file?.content ?? '') as Workflow;
    return options.business === false ? workflow : withBusiness(workflow, businessCredential);
  };
  const known = new Map<string, TestSource>();
  for (const resolved of sources) {
    const source = new TestSource(account, place, databaseUrl, resolved, generate(resolved.name));
    await source.import(options.way ?? 'REST');
    await source.publish();
    known.set(resolved.name, source);
  }
  return {
    ...{ account, place, databaseUrl, credential },
    regenerate: generate,
    sql: (text, values) => query(databaseUrl, text, values),
    source(name) {
      const found = known.get(name);
      if (!found) throw new Error(`The test's configuration has no source ${name}`);
      return found;
    },
  };
}

function readConfig({ name, sources, providers = withFixtures }: WorldOptions, credential: string) {
  const text = `project: ${name}\ncredential: ${credential}\nsources:\n${sources}`;
  const config = parseConfig(text, 'oncehook.yaml');
  return { config, sources: resolveSources(config, providers) };
}

/** The schema, n8n's role, the sources and their secrets: what `migrate` and `secrets` do. */
async function prepareLedger(url: string, sources: ResolvedSource[]): Promise<void> {
  await migrate(url);
  const client = await connect(url);
  try {
    await ensureN8nRole(client, { password: ROLE_PASSWORD });
    await syncSources(client, sources);
    for (const { id, secrets, signature } of sources) {
      for (const name of secrets) {
        await addSecret(client, { sourceId: id, name, key: storedKey(signature, SECRETS[name] ?? '') });
      }
    }
  } finally {
    await client.end();
  }
}

/** What a user puts into n8n's one credential. */
export function n8nLogin(databaseUrl: string): ReturnType<typeof loginOf> {
  return { ...loginOf(databaseUrl), user: N8N_ROLE, password: ROLE_PASSWORD };
}
