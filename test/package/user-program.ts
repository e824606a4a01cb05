import * as pulumi from '@pulumi/pulumi';
import {
  type Endpoint,
  inspectServer,
  OncehookDatabase,
  OncehookSchema,
  readConfiguration,
  stackOutputs,
} from 'oncehook/pulumi';
import { AwsPostgres } from 'oncehook/pulumi/aws';

/** The program of docs/provisioning.md, as a user writes it. */
const config = new pulumi.Config();
const endpoint: Endpoint = {
  host: config.require('host'),
  port: 5432,
  sslmode: 'verify-full',
  admin: { user: 'postgres', password: config.requireSecret('adminPassword') },
  maintenanceDatabase: 'postgres',
  dependsOn: [],
};
const content = await readConfiguration('oncehook.yaml');
const found = await inspectServer(endpoint, { database: 'hooks' });
const database = new OncehookDatabase('hooks', { endpoint, database: 'hooks', found });
const schema = new OncehookSchema('hooks', { database, ...content });
export const outputs = stackOutputs(database, schema, content);

export const elsewhere = () =>
  new AwsPostgres('server', {
    version: '18',
    network: { kind: 'own' },
    alarms: { email: 'ops@example.com' },
  }).endpoint;

// @ts-expect-error: an sslmode must be chosen, and is one of four.
export const wrong: Endpoint = { ...endpoint, sslmode: 'maybe' };
