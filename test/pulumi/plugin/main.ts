// A stand-in for `pulumi-resource-postgresql`, the plugin of @pulumi/postgresql, which comes as a download of
// 100 MB. It speaks the engine's protocol and runs the real plugin's SQL on a real server, with its ids, defaults
// and races; it takes what the installed SDK declares, and refuses what it does not implement. For tests alone.
import { readFileSync } from 'node:fs';
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import grpc from '@pulumi/pulumi/proto/provider_grpc_pb.js';
import { endWithParent } from './orphan.ts';
import { readSdkTypes, type SdkTypes } from './sdk-types.ts';
import { makeService } from './service.ts';

endWithParent();
const prepared = process.env['ONCEHOOK_TEST_POSTGRESQL_TYPES'];
const types = prepared ? (JSON.parse(readFileSync(prepared, 'utf8')) as SdkTypes) : readSdkTypes();

const unimplemented: UntypedServiceImplementation = {};
for (const name of Object.keys(grpc.ResourceProviderService)) {
  unimplemented[name] = (_call: unknown, callback: (error: object) => void) =>
    callback({ code: 12, details: `the stand-in does not implement ${name}` });
}
const server = new Server({ 'grpc.max_receive_message_length': 400 * 1024 * 1024 });
server.addService(grpc.ResourceProviderService, { ...unimplemented, ...makeService(types) });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  // The engine reads the port from the first line.
  console.log(port);
});
