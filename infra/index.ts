import { readConfiguration } from './configuration.ts';
import { OncehookDatabase } from './database.ts';
import type { Endpoint } from './endpoint.ts';
import { existingEndpoint } from './existing.ts';
import { inspectServer } from './inspect.ts';
import { stackOutputs } from './outputs.ts';
import { OncehookSchema } from './schema.ts';
import { readSettings, type Settings, type StackSecrets } from './settings.ts';

/** The whole of a stack: settings, a server, a database on it, the schema in the database. */
export default async function program() {
  const { settings, secrets } = readSettings();
  const content = await readConfiguration(settings.configFile, secrets.secrets);

  const server = await serverOf(settings, secrets);
  if (!server.endpoint) return server.outputs;

  const { endpoint } = server;
  const args = databaseArgs(settings, secrets);
  const found = await inspectServer(endpoint, args);
  const database = new OncehookDatabase('oncehook', { ...args, endpoint, found });
  const schema = new OncehookSchema('oncehook', { database, ...content });

  return { ...server.outputs, ...stackOutputs(database, schema, content) };
}

/** The server, with what to tell of it; no endpoint where this machine cannot reach it on purpose. */
async function serverOf(
  settings: Settings,
  { adminPassword = '' }: StackSecrets,
): Promise<{ endpoint?: Endpoint; outputs: Record<string, unknown> }> {
  if (settings.target === 'existing') {
    return { endpoint: existingEndpoint(settings, adminPassword), outputs: {} };
  }
  // Loaded here, so that a stack without AWS needs neither its SDK nor its plugin.
  const { AwsPostgres } = await import('./aws.ts');
  const server = new AwsPostgres('oncehook', settings.aws);
  const { host, port, adminUser, adminSecretArn, vpcId, workloadSubnetIds, destroying } = server;
  const outputs = { host, port, adminUser, adminSecretArn, vpcId, workloadSubnetIds, destroying };
  return settings.aws.reach === 'direct' ? { endpoint: server.endpoint, outputs } : { outputs };
}

function databaseArgs(settings: Settings, { n8nPassword }: StackSecrets) {
  const { database, passwordVersion, keepData } = settings;
  const given = n8nPassword === undefined ? {} : { n8nPassword };
  if (settings.target === 'aws') return { database, passwordVersion, keepData, ...given };
  const { createDatabase, createRoles } = settings;
  return { database, passwordVersion, keepData, createDatabase, createRoles, ...given };
}
