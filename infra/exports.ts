/**
 * What the package exports as `oncehook/pulumi`: the parts of our own program, for yours. `AwsPostgres` is an export of
 * its own, `oncehook/pulumi/aws`, because it loads @pulumi/aws.
 */
export { type GivenSecrets, type LedgerContent, readConfiguration } from './configuration.ts';
export { OncehookDatabase, type OncehookDatabaseArgs } from './database.ts';
export type { Login } from './database-parts.ts';
export type { DatabaseParts } from './database-plan.ts';
export type { Endpoint, SslMode } from './endpoint.ts';
export { type Found, inspectServer } from './inspect.ts';
export { stackOutputs } from './outputs.ts';
export { type LedgerDatabase, OncehookSchema, type OncehookSchemaArgs } from './schema.ts';
export type { SigningSecret } from './work/schema.ts';
