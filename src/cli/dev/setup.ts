import { dirname, join } from 'node:path';
import { UserError } from '../../errors.ts';
import type { GeneratedFile } from '../../generate/generate.ts';
import { generate } from '../../generate/generate.ts';
import type { LeftOver } from '../../generate/left-over.ts';
import { connect } from '../../ledger/connect.ts';
import { type Rollout, rollOut } from '../../ledger/rollout.ts';
import type { Context } from '../context.ts';
import { DATABASE, type DevServer, ownerUrl, prepareServer } from './databases.ts';
import { FILES, type Passwords } from './folder.ts';
import { type DevSecret, keepDevSecrets } from './secrets.ts';

/** What a start of `oncehook dev` found or made. */
export interface Setup {
  rollout: Omit<Rollout, 'withoutSecret'>;
  workflows: { files: GeneratedFile[]; leftOver: LeftOver[]; written: boolean };
  secrets: DevSecret[];
}

/**
 * Brings database, workflows and secrets to what the configuration says. Every step can be repeated, so that a
 * start that was interrupted anywhere is mended by the next one. `signal` ends it between two steps.
 */
export async function setUp(
  context: Context,
  server: DevServer,
  passwords: Passwords,
  signal: AbortSignal,
): Promise<Setup> {
  await prepareServer(server, passwords);
  signal.throwIfAborted();
  const target = { url: ownerUrl(server, DATABASE, passwords), setting: 'the development database' };
  // The secrets come last here, so that what was missing before says nothing.
  const { withoutSecret: _, ...rollout } = await rollOut(target, context.sources, {
    password: passwords.n8n,
    setting: 'the password of the development database',
  }).catch((error: unknown) => {
    throw forDevelopment(error, context.devFolder);
  });
  signal.throwIfAborted();
  const workflows = await writeWorkflows(context.config.file);
  signal.throwIfAborted();
  const client = await connect(target.url, target);
  try {
    const secrets = await keepDevSecrets(client, context.devFolder, context.sources);
    return { rollout, workflows, secrets };
  } finally {
    await client.end();
  }
}

/** What a ledger cannot be asked for, a database that holds nothing but trials can. */
function forDevelopment(error: unknown, devFolder: string): unknown {
  if (!(error instanceof UserError)) return error;
  return new UserError(...error.issues, {
    message: 'That was the development database, which holds nothing but your trials.',
    remedy: `To begin with an empty one, remove ${join(devFolder, FILES.data)}.`,
  });
}

/** What the user changed in a workflow's file stays; where that is a conflict, all files do, and the report says so. */
async function writeWorkflows(configFile: string): Promise<Setup['workflows']> {
  const compared = await generate({ configFile, check: true });
  return compared.upToDate ? compared : generate({ configFile });
}

/** The folder of the workflows, as a path that can be typed in the working directory. */
export function workflowFolder({ config }: Context): string {
  return join(dirname(config.file), config.workflows);
}
