import { describe, expect, test } from 'vitest';
import { checkResource, checkSettings } from './plugin/check.ts';
import { UNKNOWN, type Values } from './plugin/fields.ts';
import { kindOf } from './plugin/kinds/index.ts';
import { readSdkTypes } from './plugin/sdk-types.ts';

// The stand-in for the plugin of @pulumi/postgresql must refuse whatever the real SDK or the stand-in does not know:
// a test that passes with it must not owe that to a property that nobody looked at.
const types = readSdkTypes();
const kind = (name: string) =>
  kindOf(`urn:pulumi:dev::p::postgresql:index/${name[0]?.toLowerCase()}${name.slice(1)}:${name}::x`);
const refused = (name: string, inputs: Values) =>
  checkResource(types, kind(name), inputs).failures.map(({ property }) => property);

test('what it implements stands in the SDK, with the same type', () => {
  const words = { string: 'string', number: 'number', boolean: 'boolean', list: 'string[]', set: 'string[]' };
  for (const name of ['Role', 'Database', 'Grant', 'GrantRole', 'DefaultPrivileges']) {
    const { args, fields } = kind(name);
    for (const [property, { type }] of Object.entries(fields)) {
      expect(types[args]?.[property]?.type, `${name}.${property}`).toBe(words[type]);
    }
  }
});

describe('inputs', () => {
  test('good ones pass, with the real plugin’s defaults', () => {
    const { inputs, failures } = checkResource(types, kind('Role'), { name: 'app', roles: [UNKNOWN, 'x'] });
    expect(failures).toEqual([]);
    expect(inputs).toMatchObject({ connectionLimit: -1, inherit: true, validUntil: 'infinity' });
    expect(refused('Database', { name: UNKNOWN, owner: UNKNOWN })).toEqual([]);
  });

  test.each<[string, Values, string[]]>([
    ['Role', { name: 'app', canLogin: true }, ['canLogin']],
    ['Role', { name: 'app', login: 'yes' }, ['login']],
    ['Role', { name: 'app', searchPaths: ['a', 1] }, ['searchPaths']],
    ['Role', { name: 'app', passwordWo: 'x' }, ['passwordWo']],
    ['Role', { name: 'app', statementTimeout: -1 }, ['statementTimeout']],
    ['Role', { login: true }, ['name']],
    [
      'Grant',
      { role: 'app', database: 'shop', objectType: 'foreign_server', privileges: [] },
      ['objectType'],
    ],
    ['Grant', { role: 'app', database: 'shop', objectType: 'database' }, ['privileges']],
    ['GrantRole', { role: 'app' }, ['grantRole']],
    ['Database', { name: 'shop', alterObjectOwnership: true }, ['alterObjectOwnership']],
  ])('%s %o is refused', (name, inputs, expected) => {
    expect(refused(name, inputs)).toEqual(expected);
  });
});

test('a resource or a setting that it does not implement is refused', () => {
  expect(() => kind('Schema')).toThrow();
  const settings = { host: 'h', port: '5432', superuser: 'false', scheme: 'awspostgres', sslmode: 'prefer' };
  expect(checkSettings(types, settings).failures.map(({ property }) => property)).toEqual([
    'scheme',
    'sslmode',
  ]);
  expect(checkSettings(types, { port: 'many', hots: 'h' }).failures).toHaveLength(2);
});
