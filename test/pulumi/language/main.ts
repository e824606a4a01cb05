// A language host for Node.js programs, for a pulumi CLI that was built from source and brings none. It starts the
// SDK's own runner with the arguments and the environment that the real host gives it. For tests alone.
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import grpc from '@pulumi/pulumi/proto/language_grpc_pb.js';
import language from '@pulumi/pulumi/proto/language_pb.js';
import plugin from '@pulumi/pulumi/proto/plugin_pb.js';
import { endWithParent } from '../plugin/orphan.ts';

/** With this status the program ends where it has told the user what is wrong. */
const SAID_IT_ALL = 32;

endWithParent();
let engine = process.argv.slice(2).find((argument) => !argument.startsWith('-')) ?? '';

async function run(request: language.RunRequest): Promise<language.RunResponse> {
  const response = new language.RunResponse();
  const info = request.getInfo();
  if (!info) throw new Error('the engine did not say which program to run');
  const runner = createRequire(join(info.getProgramDirectory(), 'program.js')).resolve(
    '@pulumi/pulumi/cmd/run',
  );
  const options: [string, string][] = [
    ['monitor', request.getMonitorAddress()],
    ['engine', engine],
    ['organization', request.getOrganization()],
    ['project', request.getProject()],
    ['root-directory', info.getRootDirectory()],
    ['stack', request.getStack()],
    ['pwd', info.getProgramDirectory()],
    ['parallel', String(request.getParallel())],
  ];
  const args = options.flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  if (request.getDryrun()) args.push('--dry-run');
  const program = spawn('node', [runner, ...args, info.getEntryPoint(), ...request.getArgsList()], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...configuration(request), ...typescript(info) },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    program.once('error', reject);
    program.once('exit', resolve);
  });
  response.setBail(code === SAID_IT_ALL);
  if (code !== 0 && code !== SAID_IT_ALL) {
    response.setError(`Program exited with non-zero exit code: ${code}`);
  }
  return response;
}

function configuration(request: language.RunRequest): Record<string, string> {
  const config: Record<string, string> = {};
  for (const [key, value] of request.getConfigMap().entries()) {
    const colon = key.indexOf(':');
    config[`${key.slice(0, colon)}:config:${key.slice(colon + 1)}`] = value;
  }
  return {
    PULUMI_CONFIG: JSON.stringify(config),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
  };
}

/** The SDK compiles the program unless the project says `typescript: false`. */
function typescript(info: language.ProgramInfo): Record<string, string> {
  const options = (info.getOptions()?.toJavaScript() ?? {}) as Record<string, unknown>;
  return options['typescript'] === false ? {} : { PULUMI_NODEJS_TYPESCRIPT: 'true' };
}

/**
 * The real host has npm install into the nearest folder with a package.json, whichever folder it is called in. Here
 * that folder gets this repository's packages.
 */
function install(programFolder: string): void {
  let folder = programFolder;
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error(`no package.json above ${programFolder}`);
    folder = dirname(folder);
  }
  const packages = join(import.meta.dirname, '../../../node_modules');
  if (!existsSync(join(folder, 'node_modules'))) symlinkSync(packages, join(folder, 'node_modules'));
}

const handlers = {
  handshake(request: language.LanguageHandshakeRequest) {
    engine = request.getEngineAddress();
    return new language.LanguageHandshakeResponse();
  },
  getPluginInfo: () => new plugin.PluginInfo(),
  // Nothing is downloaded in tests: what a program needs is on PATH.
  getRequiredPackages: () => new language.GetRequiredPackagesResponse(),
  // What `pulumi new` asks for. The real host asks for a package manager unless the project names one.
  runtimeOptionsPrompts: () => new language.RuntimeOptionsResponse(),
  template: () => new language.TemplateResponse(),
  run,
};

function installDependencies(
  call: ServerWritableStream<language.InstallDependenciesRequest, language.InstallDependenciesResponse>,
): void {
  try {
    install(call.request.getInfo()?.getProgramDirectory() ?? '');
    call.end();
  } catch (error) {
    call.destroy(error as Error);
  }
}

const service: Record<string, unknown> = {};
for (const name of Object.keys(grpc.LanguageRuntimeService)) {
  const handler = (handlers as Record<string, (request: never) => unknown>)[name];
  service[name] = (call: ServerUnaryCall<never, unknown>, callback: sendUnaryData<unknown>) => {
    if (!handler)
      return callback({ code: 12, details: `the tests' language host does not implement ${name}` });
    return Promise.resolve()
      .then(() => handler(call.request))
      .then(
        (response) => callback(null, response),
        (error: Error) => callback({ code: 2, details: error.message }),
      );
  };
}
service['installDependencies'] = installDependencies;
const server = new Server();
server.addService(grpc.LanguageRuntimeService, service as never);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  // The engine reads the port from the first line.
  console.log(port);
});
