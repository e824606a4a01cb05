import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { environmentName, readEnv } from '../../../src/config/env.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { UserError } from '../../../src/errors.ts';
import { issuesOf } from './issues.ts';

const refusal = (text: string): string => {
  const issues = issuesOf(() => parseConfig(text, 'c.yaml'));
  return JSON.stringify(issues) + new UserError(issues[0] ?? '', ...issues.slice(1)).message;
};

// A literal secret, in the places that it could be put into by mistake.
const places: [string, (secret: string) => string][] = [
  ['the list of secrets', (secret) => `project: a\nsources:\n  s: { provider: p, secrets: [${secret}] }\n`],
  ['the place of the list', (secret) => `project: a\nsources:\n  s: { provider: p, secrets: ${secret} }\n`],
  [
    'a mapping of secrets',
    (secret) => `project: a\nsources:\n  s: { provider: p, secrets: { ${secret} } }\n`,
  ],
  ['a setting without a value', (secret) => `project: a\nsources:\n  s: { provider: p, ${secret} }\n`],
  ['an unknown setting', (secret) => `project: a\nsecret: ${secret}\nsources: {}\n`],
  ['the database', (secret) => `project: a\ndatabase: postgres://u:${secret}@h/db\nsources: {}\n`],
  ["n8n's password", (secret) => `project: a\nn8n_password: ${secret}\nsources: {}\n`],
  ['the project', (secret) => `project: ${secret}\nsources: {}\n`],
  ['the ack', (secret) => `project: a\nsources:\n  s: { provider: p, ack: ${secret} }\n`],
  ['a broken line', (secret) => `project: a\nsources: [\n${secret}: "\n`],
  ['an escape that does not exist', (secret) => `project: "\\${secret}"\nsources: {}\n`],
  ['a tag', (secret) => `project: !${secret} a\nsources: {}\n`],
  ['an alias', (secret) => `project: *${secret}\nsources: {}\n`],
];

describe('a literal secret', () => {
  it.each(places)('is never repeated: %s', (_place, make) => {
    fc.assert(
      fc.property(fc.stringMatching(/^whsec_[A-Za-z0-9]{24,40}$/), (secret) => {
        const message = refusal(make(secret));
        // Not even a part of it, but for the few letters that begin a key.
        for (let at = 0; at + 8 <= secret.length; at += 1)
          expect(message).not.toContain(secret.slice(at, at + 8));
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
    'F4782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
    'AKIA3SFODNN7EX4MPLE99',
    `A${'B'.repeat(80)}`,
    'whsec_abc',
    'secret',
    '1_A',
    'A-B',
    'A\n',
    '',
  ])('is not taken for a name: %j', (text) => {
    expect(environmentName.safeParse(text).success).toBe(false);
  });

  it.each(['STRIPE_WEBHOOK_SECRET', 'A', '_X1', 'SHOP_EU_2_SECRET_OLD', 'ONCEHOOKPRODUCTIONDATABASE'])(
    'is told from the name %s',
    (name) => {
      expect(environmentName.safeParse(name).success).toBe(true);
    },
  );
});

describe('readEnv', () => {
  it('gives the value as it is', () => {
    expect(readEnv('A', { A: ' x ' })).toBe(' x ');
  });

  it.each([
    ['is not set', 'A', {}],
    ['is empty', 'A', { A: '' }],
    ['is only inherited', 'toString', {}],
  ])('tells what to do where the variable %s', (_case, name, env) => {
    expect(issuesOf(() => readEnv(name, env))).toEqual([
      expect.objectContaining({ remedy: expect.any(String) }),
    ]);
  });
});
