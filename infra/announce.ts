import * as pulumi from '@pulumi/pulumi';
import { UserError } from '../src/errors.ts';
import { connect } from '../src/ledger/connect.ts';
import { planMigrations } from '../src/ledger/migrate.ts';
import { readMigrations } from '../src/ledger/migration-files.ts';
import { explained } from './errors.ts';
import { known } from './known.ts';

const options = { setting: "the stack's configuration" };

/**
 * Says in a preview which migrations will run: by what the database has, or, where there is none yet or its address
 * is not known, by what this version has.
 * @throws pulumi.RunError for a database that this version must not migrate.
 */
export async function announceMigrations(
  connection: pulumi.Input<string>,
  resource: pulumi.Resource,
): Promise<void> {
  const say = (text: string) => pulumi.log.info(text, resource);
  const url = await known(connection);
  const reason = url === undefined ? '' : await whyNot(url);
  if (url === undefined || reason !== undefined) {
    const names = readMigrations().map(({ name }) => name);
    const why = reason ? ` (it cannot be asked now: ${reason})` : '';
    await say(`Migrations that will run, unless the database has them already${why}: ${names.join(', ')}`);
    return;
  }
  const { pending } = await explained(() => planMigrations(url, options));
  await say(
    pending.length > 0 ? `Migrations that will run: ${pending.join(', ')}` : 'No migration will run.',
  );
}

/** Why the database cannot be asked; undefined where it can. */
async function whyNot(url: string): Promise<string | undefined> {
  try {
    const client = await connect(url, options);
    await client.end();
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.issues[0].message;
  }
}
