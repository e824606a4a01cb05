import { join, relative } from 'node:path';
import { renameWarning } from '../../config/renames.ts';
import { formatDuration } from '../../input/duration.ts';
import type { Context } from '../context.ts';
import { credentialFields } from '../credential.ts';
import { importFolderCommand, leftOverLine } from '../generate-text.ts';
import { invocation, startCommand } from '../invocation.ts';
import { count, type Output, printable, table } from '../output.ts';
import type { Credential } from './credential.ts';
import { FILES } from './folder.ts';
import type { Proof } from './proof.ts';
import { DEFAULT_PORT } from './server.ts';
import { type Setup, workflowFolder } from './setup.ts';

const DEFAULT_CONFIG = 'oncehook.yaml';

/** Everything that a start has to tell. */
export interface DevReport {
  context: Context;
  setup: Setup;
  proof: Proof;
  credential: Credential;
  /** The address beside 127.0.0.1 that Postgres listens on. */
  listen: string | undefined;
  /** Whether Postgres is stopped after the report. */
  once: boolean;
  /** Shown on a terminal only. */
  password: string;
}

/** The report as `--json` prints it: without any secret. */
export function reportJson({
  context,
  setup,
  proof,
  credential,
  listen,
}: Omit<DevReport, 'password' | 'once'>): object {
  return {
    ok: proof.ok,
    config: context.config.file,
    database: { ...setup.rollout },
    workflows: setup.workflows,
    secrets: setup.secrets,
    proof,
    credential: { ...credential, listen: listen ?? null },
    next: nextCommands(context),
  };
}

/** The report for people. */
export function reportText(report: DevReport, out: Output): string {
  const { proof } = report;
  const title = (text: string) => out.paint('bold', text);
  const sections = [
    [title('Ready'), ...indent(found(report))],
    [
      title(`Proof (source "${proof.source}", in a database of its own that is gone again)`),
      ...indent([proofTable(proof, out)]),
    ],
  ];
  if (proof.ok) {
    sections.push(
      [title("n8n's one credential (Credentials → Create → Postgres)"), ...indent(credentialLines(report))],
      [title('Next'), ...indent(nextLines(report))],
    );
  }
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

/** The proof as a table. */
export function proofTable(proof: Proof, out: Output): string {
  const rows = proof.steps.map(({ what, outcome, code, expected, ok }) => [
    ok ? '✓' : '✗',
    what,
    outcome,
    code === null ? '' : `${code}`,
    ok ? 'as expected' : `expected: ${expected}`,
  ]);
  return table([['', 'what', 'outcome', 'HTTP', ''], ...rows], (cell, column, row) => {
    if (row === 0 && cell !== '') return out.paint('dim', cell);
    return column === 0 ? out.paint(cell === '✓' ? 'green' : 'red', cell) : cell;
  });
}

function found({ context, setup, credential }: DevReport): string[] {
  const { rollout, workflows, secrets } = setup;
  const { pending } = rollout.migrations;
  const written = workflows.files.filter(({ state }) => state !== 'same');
  const conflicting = workflows.files.filter(({ conflicts }) => conflicts.length > 0);
  const made = secrets.filter(({ from }) => from === 'made now').map(({ name }) => name);
  const kept = secrets.filter(({ from }) => from === 'file').map(({ name }) => name);
  const here = (name: string) => relative(process.cwd(), join(context.devFolder, name));
  return [
    `Postgres on ${credential.host}:${credential.port}, its data under ${here(FILES.data)}`,
    pending.length > 0 ? `schema: ${count(pending.length, 'migration')} ran` : 'schema: up to date',
    ...rollout.sources.map(({ id, change }) => `source ${id}: ${change}`),
    ...(conflicting.length > 0
      ? conflicting.map(
          ({ path, conflicts }) =>
            `workflow ${path} has ${count(conflicts.length, 'conflict')} with what is generated, and none was written; \`${invocation()} generate --check\` shows them`,
        )
      : [
          written.length > 0
            ? `${count(written.length, 'file')} written: ${written.map(({ path }) => path).join(', ')}`
            : 'workflows: up to date',
        ]),
    ...workflows.leftOver.map((file) => leftOverLine(file, !workflows.written)),
    ...rollout.renames.map(renameWarning),
    ...(made.length > 0
      ? [`no value in the environment, so a random secret was made for: ${made.join(', ')}`]
      : []),
    ...(kept.length > 0
      ? [`no value in the environment, so the secret of an earlier start is used for: ${kept.join(', ')}`]
      : []),
    ...(made.length + kept.length > 0 ? [`those secrets stand in ${here(FILES.secrets)}`] : []),
  ];
}

function credentialLines({ credential, password, listen }: DevReport): string[] {
  const file = relative(process.cwd(), credential.file) || credential.file;
  // What is piped ends in logs.
  const terminal = process.stdout.isTTY;
  const shown = terminal ? password : `in the file ${file}`;
  const fields = table(credentialFields(credential, shown).map(([label, value]) => [label, value]));
  const docker =
    listen === undefined
      ? 'n8n in Docker: Postgres listens on 127.0.0.1 only. Start with --listen 172.17.0.1 (the address of the bridge docker0), and type host.docker.internal (Linux: that address) as Host.'
      : `n8n in Docker: type host.docker.internal, or an address of this machine that the container reaches, as Host.`;
  return [
    fields,
    ...(terminal ? [`All of it, the password included, stands in ${file}.`] : []),
    ...newFields(credential),
    docker,
  ];
}

/** A credential that n8n has no more is silent until the first delivery: it must be said here. */
function newFields({ changed }: Credential): string[] {
  if (changed.length === 0) return [];
  const what = changed.includes('Password')
    ? 'The password is NEW: put it'
    : `Changed since the last start: ${changed.join(', ')}. Put it`;
  return [`! ${what} into n8n's credential, or else n8n answers 503 to every delivery.`];
}

/** What starts the same database again: with the settings that n8n's credential depends on. */
export function startAgain({ config }: Context, port: number, listen: string | undefined): string {
  return startCommand([
    ...(config.file === DEFAULT_CONFIG ? [] : ['--config', config.file]),
    ...(port === DEFAULT_PORT ? [] : ['--port', `${port}`]),
    ...(listen === undefined ? [] : ['--listen', listen]),
  ]);
}

function nextCommands(context: Context): { import: string; send: string[] } {
  const source = context.sources.find(({ signature }) => signature.scheme !== 'none') ?? context.sources[0];
  const named = context.config.file === DEFAULT_CONFIG ? '' : ` --config ${context.config.file}`;
  const send = `${invocation()} send ${source?.name ?? '<source>'} --times 4${named}`;
  return {
    import: importFolderCommand(workflowFolder(context)),
    send: [`${send} --to-ledger`, send],
  };
}

function nextLines({ context, once, credential, listen }: DevReport): string[] {
  const commands = nextCommands(context);
  const [straight = '', overHttp = ''] = commands.send;
  const [first] = context.sources;
  const lease = first ? ` or, where its run never ended, ${formatDuration(first.leaseSeconds)} later` : '';
  const start = startAgain(context, credential.port, listen);
  return table([
    ...(once
      ? [['first:', `Postgres stops now (--once); ${start} keeps it up: start it before you import`]]
      : []),
    ['without n8n:', straight],
    ['into n8n:', commands.import],
    ['', 'then open each workflow in n8n, see that its Postgres nodes have the credential, and publish it'],
    ['through n8n:', overHttp],
    [
      '',
      `one delivery is "new", the others are "duplicate"; it can only be taken again after a failure${lease}`,
    ],
  ]).split('\n');
}

/** What a sender wrote, on one line. */
export function shortKey(key: string | null): string {
  return printable(key ?? '', 60);
}

function indent(lines: string[]): string[] {
  return lines.flatMap((line) => line.split('\n')).map((line) => `  ${line}`.trimEnd());
}
