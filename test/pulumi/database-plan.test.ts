import { expect, test } from 'vitest';
import {
  type DatabaseParts,
  lostGuarantees,
  planDefaults,
  planGrants,
  shapeOf,
  wishOf,
} from '../../infra/database-plan.ts';

const given = { createDatabase: false, createRoles: false };

/** What is planned for these arguments, in short. */
function plan(parts: DatabaseParts) {
  const shape = shapeOf({ database: 'shop', ...parts });
  return {
    grants: planGrants(shape).map(({ role, privileges }) => `${role}: ${privileges.join()}`),
    defaults: planDefaults(shape),
    roles: wishOf(shape).roles.map(({ name, create }) => `${name}${create ? ' (made)' : ''}`),
    lost: lostGuarantees(shape).length,
  };
}

test('everything is made: everybody loses the database before n8n may connect', () => {
  expect(plan({})).toEqual({
    grants: ['public: ', 'oncehook_n8n: CONNECT'],
    defaults: ['function', 'type'],
    roles: ['shop_owner (made)', 'oncehook_n8n (made)'],
    lost: 0,
  });
});

test('in a database that was there, the others keep what they have', () => {
  expect(plan({ createDatabase: false })).toEqual({
    grants: ['shop_owner: CONNECT,CREATE', 'oncehook_n8n: CONNECT'],
    defaults: ['function', 'type'],
    roles: ['shop_owner (made)', 'oncehook_n8n (made)'],
    lost: 1,
  });
});

test('without roles of our own, n8n has one that the service made, or else the owner’s', () => {
  expect(plan({ createRoles: false, n8nPassword: 'x' })).toEqual({
    grants: ['public: ', 'oncehook_n8n: CONNECT'],
    defaults: ['function', 'type'],
    roles: ['oncehook_n8n'],
    lost: 0,
  });
  expect(plan({ createRoles: false })).toMatchObject({ grants: ['public: '], roles: [], lost: 1 });
});

test('where all is given nothing is planned, and what that costs is said', () => {
  expect(plan(given)).toEqual({ grants: [], defaults: [], roles: [], lost: 2 });
  expect(plan({ ...given, n8nPassword: 'x' })).toEqual({
    grants: [],
    defaults: [],
    roles: ['oncehook_n8n'],
    lost: 1,
  });
});
