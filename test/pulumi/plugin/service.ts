import {
  type handleUnaryCall,
  type ServerErrorResponse,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import plugin from '@pulumi/pulumi/proto/plugin_pb.js';
import proto from '@pulumi/pulumi/proto/provider_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { checkResource, checkSettings, type Failure } from './check.ts';
import { connect, type Database } from './connection.ts';
import { applied, changed, isUnknown, planned, shown, UNKNOWN, type Values, zero } from './fields.ts';
import { kindOf } from './kinds/index.ts';
import type { Kind } from './kinds/kind.ts';
import { type SdkTypes, sdkVersion } from './sdk-types.ts';
import { type Settings, settingFields, settingsFrom } from './settings.ts';
import { halfDone, read, write } from './wire.ts';

/** `pulumirpc.ResourceProvider`, answering as the bridged plugin does. */
export function makeService(types: SdkTypes): UntypedServiceImplementation {
  let settings: Settings | undefined;
  const database = (): Promise<Database> => {
    if (!settings) throw new Error('the plugin was not configured');
    return connect(settings);
  };

  return {
    getPluginInfo: answer(() => {
      const info = new plugin.PluginInfo();
      info.setVersion(sdkVersion());
      return info;
    }),
    cancel: answer(() => new empty.Empty()),

    checkConfig: answer((request: proto.CheckRequest) => {
      const { inputs, failures } = checkSettings(types, read(request.getNews()));
      const response = new proto.CheckResponse();
      response.setInputs(write(inputs, settingFields));
      response.setFailuresList(failures.map(toProto));
      return response;
    }),

    diffConfig: answer((request: proto.DiffRequest) => {
      const [olds, news] = [read(request.getOlds()), read(request.getNews())];
      const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
      return diffResponse([...names].filter((name) => olds[name] !== news[name]));
    }),

    configure: answer((request: proto.ConfigureRequest) => {
      settings = settingsFrom(read(request.getArgs()));
      const response = new proto.ConfigureResponse();
      response.setSupportspreview(true);
      return response;
    }),

    check: answer((request: proto.CheckRequest) => {
      const kind = kindOf(request.getUrn());
      const { inputs, failures } = checkResource(types, kind, read(request.getNews()));
      const response = new proto.CheckResponse();
      response.setInputs(write(inputs, kind.fields));
      response.setFailuresList(failures.map(toProto));
      return response;
    }),

    diff: answer((request: proto.DiffRequest) => {
      const kind = kindOf(request.getUrn());
      const [olds, news] = [read(request.getOlds()), read(request.getNews())];
      const names = changed(kind.fields, olds, planned(kind.fields, news, olds));
      const replaces = names.filter((name) => !kind.update || kind.fields[name]?.forceNew);
      const sameName = news['name'] !== undefined && news['name'] === olds['name'];
      return diffResponse(names, replaces, Boolean(kind.deleteBeforeReplace) || sameName);
    }),

    create: answer(async (request: proto.CreateRequest) => {
      const kind = kindOf(request.getUrn());
      const plan = planned(kind.fields, read(request.getProperties()), undefined);
      const response = new proto.CreateResponse();
      if (request.getPreview()) {
        response.setProperties(write(plan, kind.fields));
        return response;
      }
      const db = await database();
      const id = await kind.create(db, withoutUnknown(kind, plan));
      const found = await settle(kind, db, id, withoutUnknown(kind, plan), true);
      response.setId(found.id);
      response.setProperties(write(shown(kind.fields, found.id, found.state), kind.fields));
      return response;
    }),

    update: answer(async (request: proto.UpdateRequest) => {
      const kind = kindOf(request.getUrn());
      const [id, olds] = [request.getId(), read(request.getOlds())];
      const plan = planned(kind.fields, read(request.getNews()), olds);
      const response = new proto.UpdateResponse();
      if (request.getPreview()) {
        response.setProperties(write(plan, kind.fields));
        return response;
      }
      const db = await database();
      const change = kind.update?.(db, id, olds, plan) ?? Promise.reject(new Error('it cannot be updated'));
      await change.catch((error: Error) => {
        // Terraform's SDK keeps the new values where an update fails.
        throw halfDone(id, write(shown(kind.fields, id, plan), kind.fields), error);
      });
      const found = await settle(kind, db, kind.fields['name'] ? String(plan['name']) : id, plan, false);
      response.setProperties(write(shown(kind.fields, found.id, found.state), kind.fields));
      return response;
    }),

    read: answer(async (request: proto.ReadRequest) => {
      const kind = kindOf(request.getUrn());
      const [olds, inputs] = [read(request.getProperties()), read(request.getInputs())];
      const refreshed = Object.keys(olds).length > 0;
      if (!refreshed && !kind.importable) throw new Error('resource does not support import');
      const response = new proto.ReadResponse();
      const known = refreshed ? olds : planned(kind.fields, {}, {});
      const found = await kind.read(await database(), request.getId(), known);
      if (!found) return response;
      response.setId(found.id);
      response.setProperties(write(shown(kind.fields, found.id, found.state), kind.fields));
      response.setInputs(write(inputsAfter(inputs, found.state, refreshed), kind.fields));
      return response;
    }),

    delete: answer(async (request: proto.DeleteRequest) => {
      const kind = kindOf(request.getUrn());
      await kind.delete(await database(), request.getId(), read(request.getProperties()));
      return new empty.Empty();
    }),
  };
}

function answer<Request, Response>(
  work: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    Promise.resolve()
      .then(() => work(call.request))
      .then(
        (response) => callback(null, response),
        (error: Error | ServerErrorResponse) =>
          callback('code' in error ? error : { code: status.UNKNOWN, details: error.message }),
      );
  };
}

/** What was made or changed, as the server has it now; it exists even where reading it fails. */
async function settle(kind: Kind, db: Database, id: string, plan: Values, isNew: boolean) {
  const found = await kind.read(db, id, plan).catch((error: Error) => {
    throw halfDone(id, write(shown(kind.fields, id, plan), kind.fields), error);
  });
  if (!found) throw new Error(`expected non-empty ID for new state of ${id}`);
  return { ...found, state: applied(kind.fields, plan, found.state, isNew) };
}

/** A refresh brings the inputs that the program gave to what the server has. */
function inputsAfter(inputs: Values, state: Values, refreshed: boolean): Values {
  if (!refreshed) return state;
  const entries = Object.entries(inputs).map(([name, value]) => [name, state[name] ?? value]);
  return { ...Object.fromEntries(entries), __defaults: [] };
}

function withoutUnknown({ fields }: Kind, plan: Values): Values {
  const known = Object.entries(fields).map(([name, field]) => {
    if (isUnknown(plan[name]) && plan[name] !== UNKNOWN) throw new Error(`${name} is not known`);
    return [name, plan[name] === UNKNOWN ? zero(field) : plan[name]];
  });
  return Object.fromEntries(known);
}

function toProto({ property, reason }: Failure): proto.CheckFailure {
  const failure = new proto.CheckFailure();
  failure.setProperty(property);
  failure.setReason(reason);
  return failure;
}

function diffResponse(
  names: string[],
  replaces: string[] = [],
  deleteBeforeReplace = false,
): proto.DiffResponse {
  const { DiffResponse, PropertyDiff } = proto;
  const response = new DiffResponse();
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  response.setChanges(names.length > 0 ? DIFF_SOME : DIFF_NONE);
  response.setDiffsList(names);
  response.setReplacesList(replaces);
  response.setDeletebeforereplace(replaces.length > 0 && deleteBeforeReplace);
  response.setHasdetaileddiff(true);
  for (const name of names) {
    const detail = new PropertyDiff();
    detail.setKind(replaces.includes(name) ? PropertyDiff.Kind.UPDATE_REPLACE : PropertyDiff.Kind.UPDATE);
    response.getDetaileddiffMap().set(name, detail);
  }
  return response;
}
