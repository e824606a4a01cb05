import { Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';
import provider from '@pulumi/pulumi/proto/provider_pb.js';
import rpcStatus from '@pulumi/pulumi/proto/status_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import struct from 'google-protobuf/google/protobuf/struct_pb.js';
import type { Fields, Value, Values } from './fields.ts';

const SIGNATURE = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';

/** Turns what the engine sent into plain values; secrets lose their wrapping. */
export function read(from: struct.Struct | undefined): Values {
  return (unwrap((from?.toJavaScript() ?? {}) as Value) ?? {}) as Values;
}

function unwrap(value: Value): Value {
  if (Array.isArray(value)) return value.map(unwrap);
  if (value === null || typeof value !== 'object') return value;
  if (value[SIGNATURE] === SECRET) return unwrap(value['value']);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unwrap(inner)]));
}

/** Turns values into what the engine reads; what the fields call secret is marked as one. */
export function write(values: Values, fields: Fields = {}): struct.Struct {
  const marked: Values = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const secret = fields[name]?.secret && value !== null && value !== '';
    marked[name] = secret ? { [SIGNATURE]: SECRET, value } : value;
  }
  return struct.Struct.fromJavaScript(marked as Record<string, struct.JavaScriptValue>);
}

/** The error of a resource that exists but is not as it should be: the engine keeps it in the state. */
export function halfDone(id: string, state: struct.Struct, reason: Error): ServerErrorResponse {
  const detail = new provider.ErrorResourceInitFailed();
  detail.setId(id);
  detail.setProperties(state);
  detail.setReasonsList([reason.message]);
  const packed = new any.Any();
  packed.pack(detail.serializeBinary(), 'pulumirpc.ErrorResourceInitFailed');
  const details = new rpcStatus.Status();
  details.setCode(status.UNKNOWN);
  details.setMessage(reason.message);
  details.addDetails(packed);
  const metadata = new Metadata();
  metadata.add('grpc-status-details-bin', Buffer.from(details.serializeBinary()));
  return Object.assign(new Error(reason.message), { code: status.UNKNOWN, metadata });
}
