import { type Fields, isUnknown, UNKNOWN, type Value, type Values } from './fields.ts';
import type { Kind } from './kinds/kind.ts';
import type { SdkProperty, SdkTypes } from './sdk-types.ts';
import { decodeSettings, settingFields } from './settings.ts';

export interface Failure {
  property: string;
  reason: string;
}

/** A resource's inputs with the defaults filled in, and what is wrong with them. */
export function checkResource(
  types: SdkTypes,
  kind: Kind,
  news: Values,
): { inputs: Values; failures: Failure[] } {
  const failures = compare(types, kind.args, kind.fields, news);
  for (const name of kind.required ?? []) {
    // The real plugin would make up a name.
    if (news[name] === undefined || news[name] === '') {
      failures.push({ property: name, reason: 'the stand-in makes no names: give one' });
    }
  }
  const inputs = withoutNothing(news);
  const defaults = Object.entries(kind.fields).filter(
    ([name, field]) => field.default && inputs[name] === undefined,
  );
  for (const [name, field] of defaults) inputs[name] = field.default;
  inputs['__defaults'] = defaults.map(([name]) => name).sort();
  return { inputs, failures };
}

/** The provider's own settings, as the SDK sent them, and what is wrong with them. */
export function checkSettings(types: SdkTypes, news: Values): { inputs: Values; failures: Failure[] } {
  const known = withoutNothing(news);
  delete known['version'];
  return { inputs: known, failures: compare(types, 'ProviderArgs', settingFields, decodeSettings(known)) };
}

function compare(types: SdkTypes, args: string, fields: Fields, news: Values): Failure[] {
  const declared = types[args];
  if (!declared) throw new Error(`@pulumi/postgresql declares no ${args}`);
  const failures: Failure[] = [];
  const fail = (property: string, reason: string) => failures.push({ property, reason });
  for (const [name, value] of Object.entries(withoutNothing(news))) {
    const property = declared[name];
    const field = fields[name];
    if (name === '__defaults') continue;
    if (!property) fail(name, `the SDK's ${args} has no such property`);
    else if (!fits(property, value)) fail(name, `the SDK's ${args} wants ${property.type}`);
    else if (!field) fail(name, 'the stand-in does not implement it');
    else if (!isUnknown(value)) {
      const reason = field.refuse?.(value);
      if (reason !== undefined) fail(name, reason);
    }
  }
  for (const [name, property] of Object.entries(declared)) {
    if (!property.optional && (news[name] === undefined || news[name] === null)) fail(name, 'it is required');
  }
  return failures;
}

function fits(property: SdkProperty, value: Value): boolean {
  if (value === UNKNOWN) return true;
  if (property.type.endsWith('[]')) {
    const element = { type: property.type.slice(0, -2), optional: false };
    return Array.isArray(value) && value.every((each) => fits(element, each));
  }
  return typeof value === property.type;
}

function withoutNothing(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  );
}
