import * as pulumi from '@pulumi/pulumi';

/** One resource as the engine would be asked to make it. */
export interface Made {
  type: string;
  name: string;
  /** The inputs as the provider would get them; secrets are wrapped. */
  inputs: Record<string, unknown>;
  /** The provider's reference, `<urn>::<id>`. */
  provider: string;
  /** The options that it was constructed with. */
  opts: pulumi.CustomResourceOptions;
  urn: string;
}

export interface Built<T> {
  result: T;
  /** In the order in which they were constructed. */
  made: Made[];
  one(name: string): Made;
  /** What was logged, by severity. */
  logs: { severity: 'info' | 'warn'; text: string }[];
}

/** Outputs that the providers would add. */
const ADDED: Record<string, object> = {
  'pulumi-nodejs:dynamic/oncehook:RoleLogin': { password: 'made by the provider' },
  'pulumi-nodejs:dynamic/oncehook:Schema': { applied: ['0001_tables'] },
};

/**
 * Runs a part of the program against mocks of the engine and waits for each resource that it makes. `config` is the
 * stack's, without the project's name before each key; the keys in `secret` are encrypted.
 */
export async function build<T>(
  work: () => T | Promise<T>,
  options: { preview?: boolean; config?: Record<string, string>; secret?: string[] } = {},
): Promise<Built<T>> {
  const seen = new Map<string, Pick<Made, 'type' | 'name' | 'inputs' | 'provider'>>();
  await pulumi.runtime.setMocks(
    {
      newResource({ type, name, inputs, provider }) {
        seen.set(`${type}::${name}`, { type, name, inputs, provider: provider ?? '' });
        return { id: `${name}-id`, state: { ...ADDED[type], ...inputs } };
      },
      call: () => ({}),
    },
    'oncehook',
    'dev',
    options.preview ?? false,
  );
  configure(options.config ?? {}, options.secret ?? []);
  const constructed: { resource: pulumi.Resource; opts: pulumi.CustomResourceOptions }[] = [];
  const listening = listen();
  let result: T | undefined;
  let failure: unknown;
  try {
    // In a stack of its own, so that the transformation holds for this run alone.
    await pulumi.runtime.runInPulumiStack(async () => {
      pulumi.runtime.registerStackTransformation(({ resource, opts }) => {
        constructed.push({ resource, opts });
        return undefined;
      });
      // A stack that fails fails in several promises, which nobody here waits for.
      await (async () => work())().then(
        (value) => {
          result = value;
        },
        (error: unknown) => {
          failure = error;
        },
      );
      return {};
    });
    if (failure !== undefined) throw failure;
    const made = await Promise.all(
      constructed.map(async ({ resource, opts }): Promise<Made[]> => {
        const urn = await plain(resource.urn);
        const [type, name] = urn.split('::').slice(-2);
        const found = seen.get(`${type?.split('$').at(-1)}::${name}`);
        return found ? [{ ...found, opts, urn }] : [];
      }),
    );
    const all = made.flat();
    return {
      result: result as T,
      made: all,
      logs: listening.logs,
      one(wanted) {
        const found = all.filter(({ name, type }) => name === wanted && !type.startsWith('oncehook:'));
        if (found.length !== 1) throw new Error(`${found.length} resources of the name ${wanted}`);
        return found[0] as Made;
      },
    };
  } finally {
    listening.stop();
  }
}

/** Sets the stack's configuration, as the engine hands it over. */
export function configure(config: Record<string, string>, secret: string[] = []): void {
  const entries = Object.entries(config).map(([key, value]) => [`oncehook:${key}`, value]);
  pulumi.runtime.setAllConfig(
    Object.fromEntries(entries),
    secret.map((key) => `oncehook:${key}`),
  );
}

/** The value of an output; a secret in clear. */
export function plain<T>(output: pulumi.Input<T>): Promise<T> {
  return new Promise((done) => pulumi.output(output).apply((value) => done(value as T)));
}

/** Whether an input is wrapped as a secret on its way to the provider. */
export function isSecret(input: unknown): boolean {
  const signature = '4dabf18193072939515e22adb298388d';
  return (input as Record<string, unknown>)?.[signature] === '1b47061264138c4ac30d75fd1eb44270';
}

/** What stands in an input, wrapped or not. */
export function unwrapped(input: unknown): unknown {
  return isSecret(input) ? (input as { value: unknown }).value : input;
}

function listen() {
  const logs: { severity: 'info' | 'warn'; text: string }[] = [];
  const { info, warn } = pulumi.log;
  const log = pulumi.log as { info: typeof info; warn: typeof warn };
  const note = (severity: 'info' | 'warn') => async (text: string) => {
    logs.push({ severity, text });
  };
  log.info = note('info');
  log.warn = note('warn');
  return {
    logs,
    stop: () => {
      log.info = info;
      log.warn = warn;
    },
  };
}
