import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Events, readEvents } from './events.ts';
import { type Ran, type Running, start } from './pulumi.ts';
import { type Tools, TYPES } from './tools.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export type Operation = Ran & Events;

/** A Pulumi project in a folder of its own, with its own state, settings and passphrase. */
export interface Project {
  folder: string;
  passphrase: string;
  /** Of every command that this project is worked on with. */
  env: NodeJS.ProcessEnv;
  /** Runs `pulumi <args>` in the folder; does not fail where it does. */
  pulumi(...args: string[]): Promise<Ran>;
  /** Runs a command that asks, with an answer to each question. */
  answer(answers: readonly string[], ...args: string[]): Promise<Ran>;
  /** A stack that was just made. */
  stack(name?: string): Promise<Stack>;
  /** Everything that the CLI said so far, and its logs of events, but for what was asked for in clear. */
  transcript(): string;
  remove(): Promise<void>;
}

export interface Stack {
  project: Project;
  name: string;
  /** Writes the stack's configuration, as `pulumi config set-all --path` does; `secrets` are encrypted. */
  configure(values: Settings, secrets?: Settings): Promise<void>;
  /** Makes the engine's state what it was before the first `up`; the servers keep what they have. */
  forget(): void;
  /** Without a preview first, unless asked for. Does not fail where the engine does. */
  up(...args: string[]): Promise<Operation>;
  /** The same, not waited for. */
  startUp(...args: string[]): Running;
  preview(...args: string[]): Promise<Operation>;
  refresh(...args: string[]): Promise<Operation>;
  destroy(...args: string[]): Promise<Operation>;
  /** With secrets in clear. */
  outputs(): Promise<Record<string, unknown>>;
  /** The state file as it lies on the disk. */
  stateFile(): string;
}

/** By name; `secrets.shop.SHOP_WEBHOOK_SECRET` sets a value inside an object. */
export type Settings = Record<string, string | number | boolean>;

/** A copy of this repository's project: its program, its package, its example of a configuration. */
export async function copyProject(tools: Tools): Promise<Project> {
  const project = await emptyProject(tools);
  await copyRepository(project.folder);
  await linkPackages(project);
  return project;
}

/** An empty folder, and the one that `pulumi new` is given: what a clone of this repository has of a project. */
export async function beforeNew(tools: Tools): Promise<{ project: Project; template: string }> {
  const project = await emptyProject(tools);
  const template = join(dirname(project.folder), 'clone');
  await copyRepository(template);
  return { project, template };
}

async function copyRepository(folder: string): Promise<void> {
  for (const part of ['Pulumi.yaml', 'package.json', 'oncehook.yaml', 'infra', 'src', 'templates']) {
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  }
}

async function linkPackages(project: Project): Promise<void> {
  await symlink(join(ROOT, 'node_modules'), join(project.folder, 'node_modules'));
}

/** A project whose program is this text. */
export async function writeProject(tools: Tools, program: string): Promise<Project> {
  const project = await emptyProject(tools);
  await linkPackages(project);
  await writeFile(join(project.folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(project.folder, 'Pulumi.yaml'),
    'name: oncehook\nmain: index.ts\nruntime: { name: nodejs, options: { typescript: false } }\n',
  );
  await writeFile(join(project.folder, 'index.ts'), program);
  return project;
}

async function emptyProject(tools: Tools): Promise<Project> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'oncehook-stack-')));
  const folder = join(home, 'project');
  const state = join(home, 'state');
  await mkdir(folder);
  await mkdir(state);
  const passphrase = randomBytes(12).toString('hex');
  const env = {
    ...process.env,
    PATH: tools.path,
    PULUMI_HOME: join(home, 'pulumi'),
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    // For --event-log.
    PULUMI_DEBUG_COMMANDS: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    ONCEHOOK_TEST_NODE: process.execPath,
    ONCEHOOK_TEST_POSTGRESQL_TYPES: join(tools.folder, TYPES),
    // Every operation starts four Node processes with the same code: a quarter of its time is reading that.
    NODE_COMPILE_CACHE: join(tools.folder, 'compiled'),
  };
  const said: string[] = [];
  const run = (args: readonly string[], input = ''): Running => {
    // It asks at a terminal alone, unless it is told that it is in a test of its own.
    const asking = input ? { PULUMI_TEST_INTERACTIVE: 'true' } : {};
    const running = start(tools.pulumi, args, { cwd: folder, env: { ...env, ...asking }, input });
    if (!args.includes('--show-secrets')) void running.ended.then(({ output }) => said.push(output));
    return running;
  };
  const project: Project = {
    folder,
    passphrase,
    env,
    pulumi: (...args) => run(args).ended,
    answer: (answers, ...args) => run(args, answers.map((answer) => `${answer}\n`).join('')).ended,
    stack: (name = 'dev') => makeStack(project, { home, state, name, run }),
    transcript: () => [...said, ...eventLogs(home)].join('\n'),
    remove: () => rm(home, { recursive: true, force: true }),
  };
  return project;
}

interface Place {
  home: string;
  state: string;
  name: string;
  run(args: readonly string[]): Running;
}

/** Without the SDK's own debugging, which only `pulumi --debug` shows and which holds every program's secrets. */
function eventLogs(home: string): string[] {
  const names = readdirSync(home).filter((name) => name.endsWith('.jsonl'));
  const lines = names.flatMap((name) => readFileSync(join(home, name), 'utf8').split('\n'));
  return lines.filter((line) => !line.includes('"severity":"debug"'));
}

async function makeStack(project: Project, { home, state, name, run }: Place): Promise<Stack> {
  const must = async (args: string[]): Promise<string> => {
    const ran = await run(args).ended;
    if (ran.code !== 0) throw new Error(`pulumi ${args[0]} ${args[1]} failed:\n${ran.output}`);
    return ran.stdout;
  };
  let operations = 0;
  const begin = (verb: string, args: readonly string[]) => {
    operations += 1;
    const log = join(home, `events-${name}-${operations}.jsonl`);
    const flags = ['--stack', name, '--non-interactive', '--color', 'never', '--event-log', log];
    return { log, running: run([verb, ...flags, ...args]) };
  };
  const operate = async (verb: string, args: readonly string[]): Promise<Operation> => {
    const { log, running } = begin(verb, args);
    const ran = await running.ended;
    const events = existsSync(log) ? readEvents(log) : { steps: [], changes: undefined, errors: [] };
    return { ...ran, ...events };
  };
  const flags = (values: Settings, flag: string) =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`]);
  await must(['stack', 'init', name, '--non-interactive']);
  const stateFile = join(state, '.pulumi/stacks/oncehook', `${name}.json`);
  const fresh = readFileSync(stateFile);
  return {
    project,
    name,
    async configure(values, secrets = {}) {
      const pairs = [...flags(values, '--plaintext'), ...flags(secrets, '--secret')];
      await must(['config', 'set-all', '--stack', name, '--path', ...pairs]);
    },
    forget: () => writeFileSync(stateFile, fresh),
    up: (...args) => operate('up', ['--yes', '--skip-preview', ...args]),
    startUp: (...args) => begin('up', ['--yes', '--skip-preview', ...args]).running,
    preview: (...args) => operate('preview', args),
    refresh: (...args) => operate('refresh', ['--yes', '--skip-preview', ...args]),
    destroy: (...args) => operate('destroy', ['--yes', '--skip-preview', ...args]),
    async outputs() {
      return JSON.parse(await must(['stack', 'output', '--stack', name, '--json', '--show-secrets']));
    },
    stateFile: () => readFileSync(stateFile, 'utf8'),
  };
}
