import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';
import { AwsPostgres, type AwsPostgresArgs, type Probes } from '../../../infra/aws.ts';

/** One resource as the engine would be asked to make it. */
export interface Made {
  type: string;
  name: string;
  /** The inputs as the provider would get them. */
  inputs: Record<string, unknown>;
  /** Inputs and what AWS would add, as far as the mocks know it. */
  state: Record<string, unknown>;
  /** The provider's reference, `<urn>::<id>`. */
  provider: string;
}

/** What no mock tells: the options that a resource was constructed with. */
export interface Options extends pulumi.CustomResourceOptions {
  urn: string;
}

export interface Built {
  server: AwsPostgres;
  made: Made[];
  calls: pulumi.runtime.MockCallArgs[];
  options: Map<string, Options>;
  /** The only one of a type, or the one with that name. */
  one(type: string, name?: string): Made;
}

export const adminPassword = 'p4ss<only in the secret>';
export const keyId = '1f2e3d4c-0000-4000-8000-000000000000';
export const account = '123456789012';
export const identifier = 'hooks-1f2e3d4c';

/** Settings that need nothing more; small enough to read in a test. */
export const existingVpc: AwsPostgresArgs = {
  version: '17',
  network: { kind: 'existing', vpcId: 'vpc-0a1b2c3d', subnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'] },
  allow: { securityGroups: { n8n: 'sg-0a1b2c3d' } },
  alarms: { email: 'ops@example.com' },
};

export const ownVpc: AwsPostgresArgs = {
  version: '18',
  network: { kind: 'own' },
  alarms: { topicArn: `arn:aws:sns:eu-central-1:${account}:ops` },
};

const silent: Probes = { preflight: async () => {}, checkCaFile: () => {} };

/** What AWS adds to a resource, for the few properties that ours read. */
function added(type: string, name: string, inputs: Record<string, unknown>): Record<string, unknown> {
  const arn = `arn:aws:mock:eu-central-1:${account}:${name}`;
  const secrets = [{ secretArn: `${arn}:secret`, secretStatus: 'active', kmsKeyId: '' }];
  switch (type) {
    case 'aws:kms/key:Key':
      return { arn, keyId };
    case 'aws:rds/instance:Instance':
      return { arn, address: `${name}.rds.example`, masterUserSecrets: secrets };
    case 'aws:rds/cluster:Cluster':
      return { arn, endpoint: `${name}.rds.example`, masterUserSecrets: secrets };
    default:
      return { arn, name: inputs['name'] ?? name };
  }
}

function answer({ token, inputs }: pulumi.runtime.MockCallArgs): Record<string, unknown> {
  switch (token) {
    case 'aws:index/getCallerIdentity:getCallerIdentity':
      return { accountId: account };
    case 'aws:index/getRegion:getRegion':
      return { region: 'eu-central-1' };
    case 'aws:index/getPartition:getPartition':
      return { partition: 'aws' };
    case 'aws:index/getAvailabilityZones:getAvailabilityZones':
      return { names: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'] };
    case 'aws:secretsmanager/getSecretVersion:getSecretVersion':
      return {
        secretId: inputs.secretId,
        secretString: JSON.stringify({ username: 'oncehook_admin', password: adminPassword }),
      };
    default:
      throw new Error(`The mocks know no ${token}.`);
  }
}

/** Mocks of Pulumi's engine and of AWS, and what they were asked; `listen` puts them in the engine's place. */
export function mocks() {
  const made: Made[] = [];
  const calls: pulumi.runtime.MockCallArgs[] = [];
  const engine: pulumi.runtime.Mocks = {
    newResource({ type, name, inputs, provider }) {
      const state = { ...inputs, ...added(type, name, inputs), id: `${name}-id` };
      made.push({ type, name, inputs, state, provider: provider ?? '' });
      return { id: `${name}-id`, state };
    },
    call(call) {
      calls.push(call);
      return answer(call);
    },
  };
  const listen = (preview = false) => pulumi.runtime.setMocks(engine, 'oncehook', 'test', preview);
  return { made, calls, listen };
}

/**
 * Makes a server against mocks of Pulumi's engine and of AWS, and waits for every child. The preview flag is the
 * engine's; `probes` stand for this machine.
 */
export async function build(
  args: AwsPostgresArgs,
  options: { probes?: Partial<Probes>; preview?: boolean; elsewhere?: true; name?: string } = {},
): Promise<Built> {
  const { made, calls, listen } = mocks();
  const children: pulumi.Resource[] = [];
  const given = new Map<string, pulumi.CustomResourceOptions>();
  await listen(options.preview);
  const server = new AwsPostgres(
    options.name ?? 'hooks',
    args,
    {
      transformations: [
        ({ resource, name, opts }) => {
          children.push(resource);
          given.set(name, opts);
          return undefined;
        },
      ],
      ...(options.elsewhere ? { provider: new aws.Provider('elsewhere', { region: 'us-east-2' }) } : {}),
    },
    { ...silent, ...options.probes },
  );
  const described = await Promise.all(
    children.map(async (child) => {
      const urn = await value(child.urn);
      const name = urn.split('::').at(-1) ?? '';
      return [name, { ...given.get(name), urn }] as const;
    }),
  );
  const one = (type: string, name?: string) => {
    const found = made.filter((each) => each.type === type && (name === undefined || each.name === name));
    const [first, ...rest] = found;
    if (first && rest.length === 0) return first;
    throw new Error(`${found.length} resources of type ${type}${name ? ` with name ${name}` : ''}`);
  };
  return { server, made, calls, options: new Map(described), one };
}

/** The value of an output. */
export function value<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((done) => output.apply(done));
}

/** Why an output has no value. */
export async function refusal(output: pulumi.Output<unknown>): Promise<unknown> {
  // An output is several promises, and each of them fails.
  const { promise, isKnown, isSecret, allResources } = output as unknown as {
    promise(): Promise<unknown>;
    isKnown: Promise<boolean>;
    isSecret: Promise<boolean>;
    allResources(): Promise<unknown>;
  };
  const parts = [promise(), isKnown, isSecret, allResources()];
  const [first] = await Promise.allSettled(parts);
  return first?.status === 'rejected' ? first.reason : undefined;
}
