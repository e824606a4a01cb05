import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { UserError } from '../../errors.ts';
import type { ResolvedSource } from '../../generate/resolve.ts';
import { shapeOf } from '../../providers/compile-batches.ts';
import { isKeyed } from '../../providers/compiled.ts';
import { type Context, findSource, loadContext } from '../context.ts';
import { findDatabase } from '../database.ts';
import { type DeliveryPlan, type SignedRequest, signedRequest } from '../deliveries.ts';
import { readDevSecrets } from '../dev/secrets.ts';
import { withProgress } from '../progress.ts';
import type { SendOptions } from '../verbs/send.ts';
import { checkExpectation, hintsFor, noSecret } from './hints.ts';
import { post, webhookUrl } from './http.ts';
import { asExpected, inRounds, type Sent } from './rounds.ts';
import { type Finished, openGate } from './to-ledger.ts';

/** What `send` did. */
export interface SendResult {
  ok: boolean;
  source: string;
  /** The URL, or the database. */
  target: string;
  nonce: string;
  deliveries: Sent[];
  /** With --to-ledger: the events that were completed after the sends, and the role that did so. */
  finished: Finished[];
  role: string | undefined;
  /** What to do about what came, where that is known. */
  hints: string[];
}

const DEFAULT_URL = 'http://127.0.0.1:5678';

/**
 * Sends one event to a source, as often as asked for, each delivery signed anew.
 * @throws UserError: no such source or outcome, no secret, no sample, an unreadable file, nothing that answers.
 */
export async function send(
  name: string,
  options: SendOptions,
  tell: (sent: Sent, number: number) => void,
  env: NodeJS.ProcessEnv = process.env,
): Promise<SendResult> {
  const context = await loadContext(options.config);
  const source = findSource(context, name);
  if (options.expect) checkExpectation(options.expect);
  const body = options.event === undefined ? undefined : await readInput(options.event, '--event');
  const nonce = options.id ?? randomBytes(6).toString('hex');
  const plan: Omit<DeliveryPlan, 'now'> = {
    source,
    nonce,
    secret: await findSecret(source, context, options, env),
    type: options.type,
    body,
    headers: options.header,
    tamper: options.tamper,
  };
  const { deliver, target, role, finish, end } = await openWay(context, source, options, env);
  try {
    const deliveries = await withProgress('Sending', () =>
      inRounds(
        options.times,
        options.concurrency,
        () => deliver(signedRequest({ ...plan, now: Date.now() })),
        tell,
      ),
    );
    const finished = options.finish ? await finish() : [];
    const { toLedger = false, expect } = options;
    const tampered = options.tamper !== undefined;
    const hints = await hintsFor(deliveries, context, { toLedger, tampered, expect });
    const ok = asExpected(deliveries, expect);
    return { ok, source: source.name, target, nonce, deliveries, finished, role, hints };
  } finally {
    await end();
  }
}

interface Way {
  target: string;
  role: string | undefined;
  deliver(request: SignedRequest): Promise<Omit<Sent, 'ms'>>;
  finish(): Promise<Finished[]>;
  end(): Promise<void>;
}

async function openWay(
  context: Context,
  source: ResolvedSource,
  options: SendOptions,
  env: NodeJS.ProcessEnv,
): Promise<Way> {
  const test = options.testUrl ?? false;
  if (!options.toLedger) {
    const url = webhookUrl(options.url ?? (env['N8N_URL'] || DEFAULT_URL), source.path, test);
    return {
      target: `${url.origin}${url.pathname}`,
      role: undefined,
      deliver: (request) => post(url, request, test),
      // n8n's own run completes it.
      finish: async () => [],
      end: async () => {},
    };
  }
  const database = await findDatabase(context, options, env);
  const gate = await openGate(
    database,
    { sourceId: source.id, shape: shapeOf(source.rules) },
    test ? 'test' : 'production',
    options.concurrency,
  );
  return { ...gate, target: database.name };
}

/**
 * What signs: the key of a file that was named, or the first of the source's secrets that has a value here, in the
 * environment or in what `oncehook dev` keeps.
 */
async function findSecret(
  source: ResolvedSource,
  context: Context,
  { privateKey: keyFile, stack }: Pick<SendOptions, 'privateKey' | 'stack'>,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (keyFile !== undefined) {
    if (isKeyed(source.signature)) return (await readInput(keyFile, '--private-key')).toString();
    throw new UserError({
      message: `The source "${source.name}" is checked by a secret and not by a public key.`,
      remedy: 'Leave --private-key out.',
    });
  }
  if (source.signature.scheme === 'none') return undefined;
  const kept = await readDevSecrets(context.devFolder);
  for (const values of [env, kept]) {
    for (const name of source.secrets) if (values[name]) return values[name];
  }
  throw await noSecret(source, context, stack);
}

async function readInput(file: string, option: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UserError({
      file,
      message: `The file cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      remedy: `Check the path after ${option}.`,
    });
  }
}
