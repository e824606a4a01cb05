import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { UserError } from '../errors.ts';
import type { Context } from './context.ts';

const outputs = z.object({
  project: z.string(),
  credential: z.string(),
  host: z.string(),
  port: z.number(),
  database: z.string(),
  user: z.string(),
  password: z.string(),
  ssl: z.enum(['disable', 'require']),
  ignoreSslIssues: z.boolean(),
  databaseUrl: z.string(),
  n8nUrl: z.string(),
});

/** What a stack of ours tells; passwords and addresses in clear. */
export type StackOutputs = z.output<typeof outputs> & { name: string };

/**
 * The outputs of the Pulumi stack that belongs to a configuration, by the `pulumi` command.
 * @throws UserError where there is no such command or stack, where the stack has not been brought up, and where it is
 * another project's.
 */
export async function readStack(
  name: string,
  { config, root }: Pick<Context, 'config' | 'root'>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<StackOutputs> {
  const found = outputs.safeParse(parsed(await ask(name, root, env)));
  if (!found.success) {
    throw new UserError({
      message: `The stack ${name} does not tell of a database of Oncehook's.`,
      expected: found.error.issues.map(({ path }) => path.join('.')).join(', '),
      remedy: `Bring it up: pulumi up --stack ${name}`,
    });
  }
  if (found.data.project !== config.project) {
    throw new UserError({
      file: config.file,
      path: 'project',
      message: `The stack ${name} belongs to another project, and its sources would be switched off.`,
      expected: found.data.project,
      remedy: 'Name the configuration of that project with --config, or another stack.',
    });
  }
  const { databaseUrl, n8nUrl } = found.data;
  return { ...found.data, name, databaseUrl: fromHere(databaseUrl, root), n8nUrl: fromHere(n8nUrl, root) };
}

/** An address whose authority's file counts from the project's folder, as one that counts from anywhere. */
function fromHere(address: string, root: string): string {
  const url = new URL(address);
  const file = url.searchParams.get('sslrootcert');
  if (file !== null) url.searchParams.set('sslrootcert', resolve(root, file));
  return url.href;
}

async function ask(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['stack', 'output', '--json', '--show-secrets', '--non-interactive', '--stack', name];
  try {
    return (await promisify(execFile)('pulumi', args, { cwd: folder, env })).stdout;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') {
      throw new UserError({
        message: 'There is no command pulumi here.',
        remedy: 'Install it: https://www.pulumi.com/docs/install/',
      });
    }
    const said = stderr.replace(/^error: /, '').trim();
    throw new UserError({
      message: `Pulumi does not tell the outputs of the stack ${name}: ${said.split('\n')[0] || `status ${code}`}`,
      remedy:
        'Check the name, the folder, and that PULUMI_BACKEND_URL and PULUMI_CONFIG_PASSPHRASE are set as for `pulumi up`.',
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
