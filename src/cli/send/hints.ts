import { join, relative } from 'node:path';
import { UserError } from '../../errors.ts';
import type { ResolvedSource } from '../../generate/resolve.ts';
import { oneOf } from '../../input/schema-issues.ts';
import { connect } from '../../ledger/connect.ts';
import { outcomes } from '../../providers/schema.ts';
import type { Context } from '../context.ts';
import { findDevDatabase } from '../dev/databases.ts';
import { FILES } from '../dev/folder.ts';
import { startCommand } from '../invocation.ts';
import { count } from '../output.ts';
import type { Sent } from './rounds.ts';

/** So many outcomes are told one by one; of more, how often each came. */
const ONE_BY_ONE = 10;

/** @throws UserError for a word that is no outcome of the gate. */
export function checkExpectation(expected: readonly string[]): void {
  for (const word of expected) {
    if ((outcomes as readonly string[]).includes(word)) continue;
    throw new UserError({
      message: `--expect: "${word}" is no outcome of the gate.`,
      ...oneOf(word, outcomes),
    });
  }
}

/** What a user whose deliveries did not go as wanted should know, beside the reason of each. */
export async function hintsFor(
  deliveries: readonly Sent[],
  context: Pick<Context, 'devFolder'>,
  options: { toLedger: boolean; tampered: boolean; expect?: readonly string[] | undefined },
): Promise<string[]> {
  const hints: string[] = [];
  const came = (outcome: string) => deliveries.some((sent) => sent.outcome === outcome);
  if (options.tampered && came('rejected') && !options.expect) {
    hints.push(
      'A rejection is what a tampered delivery should get: with --expect rejected, it counts as success.',
    );
  }
  if (came('unavailable') && !options.toLedger) hints.push(await explainUnavailable(context));
  return hints;
}

/** n8n itself only knows that its node has failed; whether the ledger is up can be seen from here. */
async function explainUnavailable({ devFolder }: Pick<Context, 'devFolder'>): Promise<string> {
  const found = await findDevDatabase(devFolder).catch(() => undefined);
  const client =
    found?.n8nUrl === undefined
      ? undefined
      : await connect(found.n8nUrl, { setting: found.setting }).catch(() => undefined);
  if (!client) {
    return `The ledger could not be asked: see that its database runs (the development one: ${startCommand()}), and look at the execution in n8n.`;
  }
  await client.end();
  const file = relative(process.cwd(), join(devFolder, FILES.credential));
  return `The ledger is up, so n8n cannot log in to it, or the workflow is not set up: compare n8n's credential with ${file}.`;
}

/** What to say of deliveries that were not what they should be. */
export function disappointment(deliveries: readonly Sent[], expected: readonly string[] | undefined): string {
  if (!expected) return 'Not every delivery was accepted.';
  return `Expected ${expected.join(', ')}; got ${outcomesOf(deliveries)}.`;
}

function outcomesOf(deliveries: readonly Sent[]): string {
  const all = deliveries.map(({ outcome, status }) => outcome ?? `HTTP ${status} from elsewhere`);
  if (all.length <= ONE_BY_ONE) return all.join(', ');
  const times = new Map<string, number>();
  for (const outcome of all) times.set(outcome, (times.get(outcome) ?? 0) + 1);
  return [...times].map(([outcome, number]) => `${count(number, outcome, outcome)}`).join(', ');
}

/**
 * There is no secret to sign with: what to do depends on whether a stack may hold it, or the development database is
 * there to make one.
 */
export async function noSecret(
  source: Pick<ResolvedSource, 'id' | 'name' | 'secrets'>,
  { devFolder }: Pick<Context, 'devFolder'>,
  stack: string | undefined,
): Promise<UserError> {
  const names = source.secrets.join(' or ');
  if (stack !== undefined) {
    const path = `secrets["${source.id}"].${source.secrets[0]}`;
    return new UserError({
      message: `No secret of the source "${source.name}" is known here, and a stack's outputs hold none.`,
      expected: `the environment variable ${names}`,
      remedy: `Where the stack's configuration holds it: export ${source.secrets[0]}="$(pulumi config get --stack ${stack} --path '${path}')"`,
    });
  }
  const running = await findDevDatabase(devFolder).catch(() => undefined);
  const make = running
    ? 'The development database started before the source was there; restart it (oncehook dev): it makes one.'
    : 'For a trial, start the development database, which makes one: oncehook dev.';
  return new UserError({
    message: `No secret of the source "${source.name}" is known here.`,
    expected: `the environment variable ${names}`,
    remedy: `${make} For the real one: set ${names} in this shell, store it (oncehook secrets add ${source.name}), and send again.`,
  });
}
