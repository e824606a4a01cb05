import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { credentials } from '@grpc/grpc-js';
import grpc from '@pulumi/pulumi/proto/analyzer_grpc_pb.js';
import analyzer from '@pulumi/pulumi/proto/analyzer_pb.js';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb.js';
import { Struct } from 'google-protobuf/google/protobuf/struct_pb.js';
import { afterAll, describe, expect, it } from 'vitest';
import packageJson from '../../infra/policies/package.json' with { type: 'json' };
import { type Props, policies } from '../../infra/policies/policies.ts';
import { types } from '../../infra/policies/types.ts';
import rootPackageJson from '../../package.json' with { type: 'json' };
import { build, type Made, ownVpc } from './aws/mocks.ts';

// The pack as the engine meets it: started by the SDK's own runner, and asked over gRPC.
const folder = fileURLToPath(new URL('../../infra/policies', import.meta.url));
const runner = createRequire(import.meta.url).resolve('@pulumi/pulumi/cmd/run-policy-pack');
const pack = spawn(process.execPath, [runner, '127.0.0.1:1', folder], { cwd: folder });
afterAll(() => pack.kill());
let complaints = '';
pack.stderr.on('data', (bytes) => {
  complaints += bytes;
});
const port = await Promise.race([
  once(pack.stdout, 'data').then(([bytes]) => Number(bytes)),
  once(pack, 'exit').then(() => Promise.reject(new Error(complaints))),
]);
const client = new grpc.AnalyzerClient(`127.0.0.1:${port}`, credentials.createInsecure());
afterAll(() => client.close());
const info = promisify<Empty, analyzer.AnalyzerInfo>(client.getAnalyzerInfo.bind(client));
const analyze = promisify<analyzer.AnalyzeRequest, analyzer.AnalyzeResponse>(client.analyze.bind(client));
const analyzeStack = promisify<analyzer.AnalyzeStackRequest, analyzer.AnalyzeResponse>(
  client.analyzeStack.bind(client),
);

const { made } = await build(ownVpc);
const urnOf = ({ type, name }: Made) => `urn:pulumi:test::oncehook::${type}::${name}`;
const instance = made.find(({ type }) => type === types.instance) as Made;
const bent = (change: Props): Made => ({
  ...instance,
  inputs: { ...instance.inputs, ...change },
  state: { ...instance.state, ...change },
});

const plain = (props: Props) => Struct.fromJavaScript(JSON.parse(JSON.stringify(props)));

/** What the rules about single resources say of one, by id. */
async function about(each: Made): Promise<string[]> {
  const request = new analyzer.AnalyzeRequest();
  request.setType(each.type);
  request.setUrn(urnOf(each));
  request.setName(each.name);
  request.setProperties(plain(each.inputs));
  request.setOptions(new analyzer.AnalyzerResourceOptions());
  const found = (await analyze(request)).getDiagnosticsList();
  return found.map((diagnostic) => diagnostic.getPolicyname());
}

/** What the other rules say of a whole stack: id and URN. */
async function aboutAll(stack: readonly Made[]): Promise<[id: string, urn: string][]> {
  const request = new analyzer.AnalyzeStackRequest();
  request.setResourcesList(
    stack.map((each) => {
      const resource = new analyzer.AnalyzerResource();
      resource.setType(each.type);
      resource.setUrn(urnOf(each));
      resource.setName(each.name);
      resource.setProperties(plain(each.state));
      resource.setOptions(new analyzer.AnalyzerResourceOptions());
      return resource;
    }),
  );
  const found = (await analyzeStack(request)).getDiagnosticsList();
  return found.map((diagnostic) => [diagnostic.getPolicyname(), diagnostic.getUrn()]);
}

describe('the policy pack', () => {
  it('has the version of the package that it comes with', () => {
    expect(packageJson.version).toBe(rootPackageJson.version);
  });

  it('offers every rule, and stops an update only for those that are mandatory', async () => {
    const offered = (await info(new Empty())).getPoliciesList();
    const levels = offered.map((each) => [each.getName(), each.getEnforcementlevel()]);
    const { ADVISORY, MANDATORY } = analyzer.EnforcementLevel;
    expect(levels).toEqual(
      policies.map(({ id, level }) => [id, level === 'mandatory' ? MANDATORY : ADVISORY]),
    );
  });

  it('has nothing against our resources', async () => {
    for (const each of made) expect(await about(each), each.name).toEqual([]);
    expect(await aboutAll(made)).toEqual([]);
  });

  it('names the rules that a resource breaks', async () => {
    expect((await about(bent({ publiclyAccessible: true }))).toSorted()).toEqual(['CKV_AWS_17', 'RDS.2']);
  });

  it('names the rules that a stack breaks, and the resource', async () => {
    const stack = made.map((each) => (each === instance ? bent({ parameterGroupName: 'default' }) : each));
    const urn = urnOf(instance);
    expect((await aboutAll(stack)).toSorted()).toEqual([
      ['CKV2_AWS_30', urn],
      ['CKV2_AWS_69', urn],
    ]);
  });
});
