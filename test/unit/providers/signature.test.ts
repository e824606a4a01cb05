import { describe, expect, it } from 'vitest';
import { compileSignature, signsUrl } from '../../../src/providers/compile.ts';
import { signatureSchema } from '../../../src/providers/signature.ts';
import { compileSigned, splitPath } from '../../../src/providers/signed.ts';

const hmac = { scheme: 'hmac', header: 'x-sig' };
const hash = { scheme: 'hash', hash: 'md5', header: 'x-sig', signed: '{body}{secret}' };
const token = { scheme: 'token', header: 'x-token' };
const form = { from: 'form' };

/** Paths and texts of what is wrong. */
function issues(written: object): string[] {
  const { error } = signatureSchema.safeParse(written);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a signature', () => {
  it.each([
    ['an unknown scheme', { scheme: 'md5' }, 'scheme'],
    ['no place', { scheme: 'hmac' }, 'header'],
    ['two places', { ...hmac, query: 'sign' }, ''],
    ['a token without a place', { scheme: 'token' }, 'header'],
    ['a token in two places', { ...token, body: 'a' }, ''],
    ['an item without a list', { scheme: 'token', item: 'a' }, 'each'],
    ['a list without an item', { ...hmac, each: 'a' }, 'each'],
    ['a list that a token does not use', { ...token, each: 'a' }, 'each'],
    ['an item in the template without a list', { ...hmac, signed: '{body}{item.a}' }, 'signed'],
    ['a prefix beside pairs', { ...hmac, pairs: { separator: ',', name: 'v' }, prefix: 'v=' }, 'prefix'],
    ['pairs without a header', { scheme: 'hmac', query: 's', pairs: { separator: ',', name: 'v' } }, 'pairs'],
    ['further headers without a first', { scheme: 'hmac', query: 's', more_headers: ['x'] }, 'more_headers'],
    [
      'a separator that is an equals sign',
      { ...hmac, pairs: { separator: '=', name: 'v' } },
      'pairs.separator',
    ],
    [
      'a time in a pair without pairs',
      { ...hmac, signed: '{timestamp}{body}', timestamp: { pair: 't' } },
      'timestamp.pair',
    ],
    [
      'a time in the pair of the signature',
      {
        ...hmac,
        pairs: { separator: ',', name: 't' },
        signed: '{timestamp}{body}',
        timestamp: { pair: 't' },
      },
      'timestamp.pair',
    ],
    [
      'a time in two places',
      { ...hmac, signed: '{timestamp}{body}', timestamp: { body: 't', header: 'x-t' } },
      'timestamp',
    ],
    ['a time in no place', { ...hmac, signed: '{timestamp}{body}', timestamp: { unit: 's' } }, 'timestamp'],
    [
      'an unknown tolerance',
      { ...hmac, signed: '{timestamp}{body}', timestamp: { header: 't', tolerance: 0 } },
      'timestamp.tolerance',
    ],
    ['a signed time without a rule', { ...hmac, signed: '{timestamp}{body}' }, 'signed'],
    ['a rule for a time that is not signed', { ...hmac, timestamp: { header: 'x-t' } }, 'signed'],
    [
      'a time of the body that is not signed',
      { ...hmac, partial: true, signed: '{body.id}', timestamp: { body: 't' } },
      'signed',
    ],
    ['a template without the body', { ...hmac, signed: '{header.x-id}' }, 'signed'],
    ['one of two templates without the body', { ...hmac, signed: ['{body}', '{url}'] }, 'signed.1'],
    ['a template with the body twice', { ...hmac, signed: '{body}{body|sha256}' }, 'signed'],
    ['the whole body where the signature stands in it', { scheme: 'hmac', body: 'sig' }, 'signed'],
    ['fields without a rule', { ...hmac, signed: '{fields}' }, 'signed'],
    ['a rule for fields that nothing uses', { ...hmac, fields: form }, 'fields'],
    ['fields of JSON alone', { ...hmac, signed: '{fields}', fields: { from: 'json' } }, 'signed'],
    ['some fields alone', { ...hmac, signed: '{fields}', fields: { ...form, begin: 'x' } }, 'signed'],
    ['all fields but one', { ...hmac, signed: '{fields}', fields: { ...form, except: ['x'] } }, 'signed'],
    [
      'fields without their values',
      { ...hmac, signed: '{fields}', fields: { ...form, write: '{name}' } },
      'fields.write',
    ],
    ['the secret in HMAC', { ...hmac, signed: '{body}{secret}' }, 'signed'],
    [
      'the secret among the fields of HMAC',
      { ...hmac, signed: '{fields}', fields: { ...form, secret_as: 'k' } },
      'fields.secret_as',
    ],
    ['a hash without the secret', { ...hash, signed: '{body}' }, 'signed'],
    [
      'a hash of which one template has no secret',
      { ...hash, signed: ['{body}{secret}', '{body}'] },
      'signed.1',
    ],
    ['HMAC with MD5', { ...hmac, hash: 'md5' }, 'hash'],
    ['a hash without a function', { ...hash, hash: undefined }, 'hash'],
    ['an encoding that is none', { ...hmac, encoding: 'base32' }, 'encoding'],
    ['an empty list of templates', { ...hmac, signed: [] }, 'signed'],
    ['a header that is none', { ...hmac, header: 'x sig' }, 'header'],
    ['a path that is none', { scheme: 'token', body: 'a..b' }, 'body'],
    ['an unknown setting', { ...hmac, secret: 'x' }, ''],
    ['a setting of HMAC beside basic', { scheme: 'basic', header: 'x' }, ''],
  ])('is refused with %s', (_case, written, path) => {
    const found = issues(written);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map((text) => text.slice(0, text.indexOf(':')))).toEqual([path]);
  });

  it.each([
    ['{path}', 'placeholder'],
    ['{body}}', 'lone brace'],
    ['{', 'lone brace'],
    ['', 'template'],
    ['{header}', 'placeholder'],
    ['{header.a.b}', 'placeholder'],
    ['{query.data.id}', 'placeholder'],
    ['{body.a..b}', 'placeholder'],
    ['{body?}', 'placeholder'],
    ['{body|json}', 'placeholder'],
    ['{body.a|sha256}', 'placeholder'],
    ['{timestamp|lower}', 'placeholder'],
    ['{secret|lower}', 'placeholder'],
    ['{fields.a}', 'placeholder'],
  ])('has no template like %s', (text, word) => {
    expect(compileSigned(text).issue).toContain(word);
  });

  it('is compiled: templates in parts, paths in steps, names of headers in lower case', () => {
    const { parts } = compileSigned(
      'v0:{timestamp}{header.X-Id}{body."a.b".0?|json}{{"x":{secret|json}}}{body|sha256}',
    );
    expect(parts).toEqual([
      'v0:',
      { from: 'timestamp' },
      { from: 'header', path: ['x-id'] },
      { from: 'body', path: ['a.b', '0'], optional: true, as: 'json' },
      '{"x":',
      { from: 'secret', as: 'json' },
      '}',
      { from: 'body', as: 'sha256' },
    ]);
    expect(splitPath('auth[x]."a.b".0')).toEqual(['auth[x]', 'a.b', '0']);
    const written = signatureSchema.parse({
      ...{ scheme: 'hash', hash: 'sha256', body: 'a.b', partial: true, signed: '{url}{fields}{secret}' },
      fields: { from: 'form', write: '[{name}={value}]', between: '&', begin: 'x' },
    });
    expect(signsUrl(written)).toBe(true);
    expect(compileSignature(written, { publicUrl: 'https://a.example/{body}' })).toEqual({
      ...{ scheme: 'hash', hash: 'sha256', body: ['a', 'b'], encoding: 'hex', secret_encoding: 'utf8' },
      signed: [['https://a.example/{body}', { from: 'fields' }, { from: 'secret' }]],
      fields: { from: 'form', before: '[', middle: '=', after: ']', between: '&', begin: 'x', except: [] },
    });
  });
});
