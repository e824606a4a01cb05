import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT } from '../failure.ts';
import { type CommonOptions, common, type DatabaseOptions, onDatabase, wholeNumber } from '../options.ts';
import { type Output, printable, processOutput } from '../output.ts';
import type { Sent } from '../send/rounds.ts';
import type { SendResult } from '../send/run.ts';
import { TAMPERS, type Tamper } from '../send/tampers.ts';
import type { Verb } from '../verbs.ts';

/** As commander hands them over. */
export interface SendOptions extends CommonOptions, DatabaseOptions {
  url?: string;
  testUrl?: boolean;
  toLedger?: boolean;
  times: number;
  concurrency: number;
  type?: string;
  event?: string;
  header?: Record<string, string>;
  id?: string;
  /** A file with the private key to sign with, where the source knows a public one. */
  privateKey?: string;
  tamper?: Tamper;
  expect?: string[];
  /** With --to-ledger: whether what was claimed is completed. */
  finish: boolean;
}

/** `oncehook send <source>`: deliveries as the sender makes them. */
const sendVerb: Verb = (command, done) => {
  options(command).action(async (name: string, options: SendOptions) => {
    const out = processOutput(options.json ?? false);
    const { send } = await import('../send/run.ts');
    const result = await send(name, options, (sent, number) => {
      if (!out.json) out.line(sent, () => describe(sent, number, out));
    });
    const { nonce, role, ...told } = result;
    if (out.json) out.result({ ...told, id: nonce }, String);
    else for (const line of finishLines(result, options)) out.note(line);
    if (!result.ok) {
      const { disappointment } = await import('../send/hints.ts');
      out.note(disappointment(result.deliveries, options.expect));
      done(EXIT.no);
    }
    for (const hint of result.hints) out.note(hint);
  });
};
export default sendVerb;

function options(command: Command): Command {
  const examples = [
    'send shop --times 4',
    'send shop --tamper signature --expect rejected',
    'send shop --to-ledger --event event.json',
  ];
  return onDatabase(common(command, ...examples))
    .argument('<source>', 'a source of the configuration')
    .option('--url <base>', 'the address of n8n (default: N8N_URL, or else http://127.0.0.1:5678)')
    .option('--test-url', "use n8n's test URL, which has a key space of its own")
    .option('--to-ledger', "past n8n, straight through the gate's statement in the database")
    .option('--no-finish', 'with --to-ledger: leave the event open, as a run that is still at work')
    .option('--times <n>', 'how often the event is sent', wholeNumber(1, 100_000), 1)
    .option('--concurrency <n>', 'how many deliveries at once', wholeNumber(1, 1_000), 1)
    .option('--type <event type>', "which of the provider's samples to send")
    .option('--event <file>', 'the exact bytes of the body, in place of a sample')
    .option('--header <name: value>', 'a header of the request; may be given several times', header)
    .option('--id <text>', 'the same text is the same event; a new one each time by default', nonce)
    .option('--private-key <file>', 'sign with this key, where the source checks by a public key')
    .addOption(new Option('--tamper <what>', 'break the delivery on purpose').choices(TAMPERS))
    .option(
      '--expect <outcomes>',
      'exit with status 1 unless exactly these outcomes come, e.g. new,duplicate',
      (text) => text.split(',').map((word) => word.trim()),
    );
}

/** `X-Event-Id: 17` into the others, names in lower case. */
export function header(text: string, others: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([\x20-\x7e\x80-\xff]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("Expected 'name: value'.");
  }
  return { ...others, [name.toLowerCase()]: value.trimEnd() };
}

/** What became of the events that the deliveries claimed, past n8n. */
function finishLines(
  { finished, deliveries, role }: SendResult,
  { toLedger, finish }: SendOptions,
): string[] {
  if (!toLedger) return [];
  const as = role === undefined ? '' : `, as the role ${role}`;
  if (finish) {
    return finished.map(
      ({ key, status }) => `${printable(key)}: completed as n8n's run would ("Mark success"${as}): ${status}`,
    );
  }
  const open = deliveries.some(({ outcome }) => outcome === 'new' || outcome === 'reclaimed');
  return open
    ? ['The event stays open (--no-finish) until its lease lapses; then a delivery takes it anew.']
    : [];
}

function nonce(text: string): string {
  if (/^[A-Za-z0-9_.-]{1,100}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected 1 to 100 letters, digits, dashes, dots and underscores.');
}

function describe({ status, outcome, ms, reason }: Sent, number: number, out: Output): string {
  const good = status >= 200 && status < 300;
  return [
    `${number}`.padStart(3),
    out.paint(good ? 'green' : 'red', `${status}`),
    (outcome ?? '-').padEnd(11),
    `${ms.toFixed(1)} ms`.padStart(10),
    ...(reason === null ? [] : [printable(reason)]),
  ].join('  ');
}
