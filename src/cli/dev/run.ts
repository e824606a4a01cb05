import { relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '../../errors.ts';
import { signal as send } from '../../ledger/embedded/processes.ts';
import type { Server } from '../../ledger/embedded/server.ts';
import { type Context, loadContext } from '../context.ts';
import { EXIT } from '../failure.ts';
import type { Output } from '../output.ts';
import { withProgress } from '../progress.ts';
import { keepCredential } from './credential.ts';
import { DATABASE, ownerUrl } from './databases.ts';
import { keepPasswords, openFolder } from './folder.ts';
import { type Interrupts, listenForInterrupts } from './interrupts.ts';
import { prove } from './proof.ts';
import { reportJson, reportText, startAgain } from './report.ts';
import { DEFAULT_PORT, startDevServer } from './server.ts';
import { setUp } from './setup.ts';
import { feedWidths, showDeliveries } from './watch.ts';

export interface DevOptions {
  config: string;
  /** End after the proof. */
  once: boolean;
  port: number | undefined;
  listen: string | undefined;
}

/**
 * Starts the development database beside the configuration, brings everything up to date, proves the gate, reports,
 * and shows deliveries until it is told to end. Postgres is stopped however it ends.
 *
 * Returns the exit status: 0 also after Ctrl-C once everything was up, 1 where the proof failed, 128 and the
 * signal's number where it was interrupted before. Throws UserError for what the user can mend.
 */
export async function dev(options: DevOptions, out: Output): Promise<number> {
  const context = await loadContext(options.config);
  const interrupts = listenForInterrupts();
  try {
    await openFolder(context.devFolder);
    const server = await withProgress('Starting Postgres', () =>
      startDevServer(context.devFolder, options.port ?? DEFAULT_PORT, options.listen),
    );
    // At the second Ctrl-C: an immediate shutdown, from which the next start recovers.
    interrupts.onSecond(() => send(server.pid, 'SIGQUIT'));
    try {
      return await work(context, options, server, interrupts, out);
    } finally {
      await withProgress('Stopping Postgres', () => server.stop());
      if (interrupts.signal.aborted && !out.json) out.note(stopped(context, server.port, options.listen));
    }
  } finally {
    interrupts.release();
  }
}

function stopped(context: Context, port: number, listen: string | undefined): string {
  const folder = relative(process.cwd(), context.devFolder) || context.devFolder;
  return `\nStopped. The data stays under ${folder}/; ${startAgain(context, port, listen)} goes on from there.`;
}

async function work(
  context: Context,
  options: DevOptions,
  server: Server,
  interrupts: Interrupts,
  out: Output,
): Promise<number> {
  const { signal } = interrupts;
  const passwords = await keepPasswords(context.devFolder);
  let proven: boolean;
  try {
    signal.throwIfAborted();
    const setup = await withProgress('Setting up', () => setUp(context, server, passwords, signal));
    const proof = await withProgress('Proving the gate', () =>
      prove(server, passwords, context.sources, signal),
    );
    const name = context.config.credential;
    const credential = await keepCredential(context.devFolder, name, server.port, passwords);
    const report = { context, setup, proof, credential, listen: options.listen };
    out.result(reportJson(report), () =>
      reportText({ ...report, once: options.once, password: passwords.n8n }, out),
    );
    proven = proof.ok;
  } catch (error) {
    if (signal.aborted) return interrupts.status();
    throw error;
  }
  if (!proven) {
    out.note(
      'The gate did not do what it should: this is a fault of Oncehook. Please report the table above.',
    );
    return EXIT.no;
  }
  if (!options.once) await stayUp(context, ownerUrl(server, DATABASE, passwords), server, interrupts, out);
  return EXIT.done;
}

async function stayUp(
  { sources }: Context,
  url: string,
  server: Server,
  { signal }: Interrupts,
  out: Output,
): Promise<void> {
  if (!out.json) out.note('\nDeliveries, as they come (Ctrl-C stops Postgres and ends):');
  const over = server.ended.then(() => {
    if (signal.aborted) return;
    throw new UserError({
      message: 'Postgres ended by itself, or somebody ended it.',
      remedy:
        'Start again: what was committed is recovered. If it repeats, look at the disk and the memory of this machine.',
    });
  });
  while (!signal.aborted) {
    const showing = showDeliveries(url, out, signal, feedWidths(sources)).catch(() => {
      // When one of its processes dies, Postgres ends all connections and goes on.
    });
    await Promise.race([showing, over]);
    if (!signal.aborted) await Promise.race([over, pause(1_000, undefined, { signal }).catch(() => {})]);
  }
}
