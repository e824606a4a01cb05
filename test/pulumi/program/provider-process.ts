import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { credentials, type ServiceError } from '@grpc/grpc-js';
import * as pulumi from '@pulumi/pulumi';
import grpc from '@pulumi/pulumi/proto/provider_grpc_pb.js';
import messages from '@pulumi/pulumi/proto/provider_pb.js';
import { type JavaScriptValue, Struct } from 'google-protobuf/google/protobuf/struct_pb.js';

/** Where the program works, and so its providers. */
const PROGRAM = fileURLToPath(new URL('../../../infra/', import.meta.url));

type Bag = Record<string, unknown>;

/** A dynamic provider as the engine runs it: a process of its own, and a conversation by gRPC. */
export interface ProviderProcess {
  diff(olds: Bag, news: Bag): Promise<boolean>;
  create(inputs: Bag): Promise<{ id: string; outs: Bag }>;
  update(olds: Bag, news: Bag): Promise<Bag>;
  read(outs: Bag): Promise<Bag>;
  delete(outs: Bag): Promise<void>;
  /** Everything that it wrote, to both streams. */
  written(): string;
  stop(): Promise<void>;
}

/** Serialises a provider as the SDK does, and starts the SDK's host for it. */
export async function startProvider(provider: pulumi.dynamic.ResourceProvider): Promise<ProviderProcess> {
  const { text } = await pulumi.runtime.serializeFunction(() => provider, { allowSecrets: true });
  return startSerialised(text, PROGRAM);
}

/** Starts the SDK's host for the text of a provider, in the folder of its program. */
export async function startSerialised(text: string, program: string): Promise<ProviderProcess> {
  const host = createRequire(import.meta.url).resolve('@pulumi/pulumi/cmd/dynamic-provider');
  const child = spawn(process.execPath, [host, '127.0.0.1:0'], { cwd: program });
  let written = '';
  child.stderr.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  const port = await firstLine(child);
  child.stdout?.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  const client = new grpc.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const bag = (values: Bag) =>
    Struct.fromJavaScript({ ...values, __provider: text } as unknown as Record<string, JavaScriptValue>);
  const plain = (struct: Struct | undefined): Bag => {
    const { __provider, ...rest } = (struct?.toJavaScript() ?? {}) as Bag;
    return rest;
  };
  const call = <Request, Response>(
    method: (request: Request, done: (error: ServiceError | null, response: Response) => void) => unknown,
    request: Request,
  ) =>
    new Promise<Response>((done, fail) => {
      method.call(client, request, (error, response) => (error ? fail(error) : done(response)));
    });
  return {
    async diff(olds, news) {
      const request = new messages.DiffRequest();
      request.setId('id');
      request.setOlds(bag(olds));
      request.setNews(bag(news));
      const response = await call<typeof request, messages.DiffResponse>(client.diff, request);
      return response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME;
    },
    async create(inputs) {
      const request = new messages.CreateRequest();
      request.setProperties(bag(inputs));
      const response = await call<typeof request, messages.CreateResponse>(client.create, request);
      return { id: response.getId(), outs: plain(response.getProperties()) };
    },
    async update(olds, news) {
      const request = new messages.UpdateRequest();
      request.setId('id');
      request.setOlds(bag(olds));
      request.setNews(bag(news));
      return plain(
        (await call<typeof request, messages.UpdateResponse>(client.update, request)).getProperties(),
      );
    },
    async read(outs) {
      const request = new messages.ReadRequest();
      request.setId('id');
      request.setProperties(bag(outs));
      return plain((await call<typeof request, messages.ReadResponse>(client.read, request)).getProperties());
    },
    async delete(outs) {
      const request = new messages.DeleteRequest();
      request.setId('id');
      request.setProperties(bag(outs));
      await call<typeof request, unknown>(client.delete, request);
    },
    written: () => written,
    async stop() {
      client.close();
      child.kill();
      await once(child, 'close');
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return chunk.toString().trim();
}
