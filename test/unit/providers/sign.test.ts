import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { sign } from '../../../src/providers/sign.ts';
import { signatureSchema } from '../../../src/providers/signature.ts';
import { compileSigned } from '../../../src/providers/signed.ts';

const hmac = (more: object = {}) =>
  signatureSchema.parse({ scheme: 'hmac-sha256', header: 'X-Sig', ...more });
const request = { secret: 'secret', body: Buffer.from('{"a":1}'), headers: {}, timestamp: 1_760_000_000.25 };

describe('sign', () => {
  it('is deterministic and signs the exact bytes, valid UTF-8 or not', () => {
    const inputs = [fc.string({ minLength: 1 }), fc.uint8Array(), fc.integer({ min: 0, max: 4e9 })] as const;
    fc.assert(
      fc.property(...inputs, (secret, body, timestamp) => {
        const once = sign({ ...request, secret, body, timestamp, signature: hmac() });
        expect(sign({ ...request, secret, body, timestamp, signature: hmac() })).toEqual(once);
        expect(once).toEqual({ 'x-sig': createHmac('sha256', secret).update(body).digest('hex') });
      }),
    );
  });

  it('changes with any byte of the body', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (body, at, flip) => {
          const changed = body.slice();
          changed[at % body.length] = (body[at % body.length] ?? 0) ^ flip;
          const signature = hmac({ encoding: 'base64' });
          expect(sign({ ...request, signature, body: changed })).not.toEqual(
            sign({ ...request, signature, body }),
          );
        },
      ),
    );
  });

  it('signs the same from a template and from its compiled parts', () => {
    const template = '{header.x-id}|{timestamp}|{body}|end';
    const signature = hmac({ signed: template, timestamp: { header: 'X-Time' } });
    if (signature.scheme !== 'hmac-sha256') throw new Error('another scheme');
    const compiled = { ...signature, signed: compileSigned(template).parts ?? [] };
    const headers = { 'X-Id': 'e1' };
    expect(sign({ ...request, headers, signature: compiled })).toEqual(
      sign({ ...request, headers, signature }),
    );
  });

  it('writes the time in the unit and the place that the rule names', () => {
    const inHeader = hmac({ signed: '{timestamp}{body}', timestamp: { header: 'X-Time', unit: 'ms' } });
    expect(sign({ ...request, signature: inHeader })).toMatchObject({ 'x-time': '1760000000250' });
    const pairs = { separator: ';', name: 'v' };
    const inPair = hmac({ pairs, signed: '{timestamp}{body}', timestamp: { pair: 'ts' } });
    expect(sign({ ...request, signature: inPair })['x-sig']).toMatch(/^ts=1760000000;v=[0-9a-f]{64}$/);
  });

  it.each([
    ['utf8', 'a2V5', Buffer.from('a2V5')],
    ['base64', 'p_a2V5', Buffer.from('key')],
    ['base64', 'a2V5MQ', Buffer.from('key1')],
    ['hex', '6b6579', Buffer.from('key')],
  ])('reads a secret in %s', (secret_encoding, secret, key) => {
    const signature = hmac({ secret_encoding, secret_prefix: 'p_' });
    const expected = createHmac('sha256', key).update(request.body).digest('hex');
    expect(sign({ ...request, secret, signature })).toEqual({ 'x-sig': expected });
  });

  it('refuses a secret that cannot be decoded, without repeating it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('hex', 'base64'),
        fc.stringMatching(/^[!-~]{3,30}$/),
        (secret_encoding, tail) => {
          const secret = `§${tail}`;
          const attempt = () => sign({ ...request, secret, signature: hmac({ secret_encoding }) });
          expect(attempt).toThrow(UserError);
          expect(attempt).not.toThrow(secret);
        },
      ),
    );
    expect(() => sign({ ...request, secret: '', signature: hmac() })).toThrow(UserError);
  });

  it('refuses a request without a header that the signature covers', () => {
    const signature = hmac({ signed: '{header.x-id}.{body}' });
    expect(() => sign({ ...request, signature })).toThrow(UserError);
  });

  it('puts a token into its header, and nothing where nothing is signed', () => {
    const token = signatureSchema.parse({ scheme: 'token', header: 'Authorization', prefix: 'Bearer ' });
    expect(sign({ ...request, signature: token })).toEqual({ authorization: 'Bearer secret' });
    expect(sign({ ...request, signature: { scheme: 'none' } })).toEqual({});
  });
});

describe('a signature', () => {
  it.each([
    ['an unknown scheme', { scheme: 'md5' }],
    ['a prefix beside pairs', { pairs: { separator: ',', name: 'v' }, prefix: 'v=' }],
    ['a time in a pair without pairs', { signed: '{timestamp}{body}', timestamp: { pair: 't' } }],
    ['a time in two places', { signed: '{timestamp}{body}', timestamp: { pair: 't', header: 'x-t' } }],
    ['a time in no place', { signed: '{timestamp}{body}', timestamp: { unit: 's' } }],
    ['a signed time without a rule', { signed: '{timestamp}{body}' }],
    ['a rule for a time that is not signed', { timestamp: { header: 'x-t' } }],
    ['a template without the body', { signed: '{header.x-id}' }],
    ['a template with the body twice', { signed: '{body}{body}' }],
    ['a template with an unknown placeholder', { signed: '{body}{path}' }],
    ['a template with a lone brace', { signed: '{body}}' }],
    ['a header that is none', { header: 'x sig' }],
    ['an unknown setting', { secret: 'x' }],
  ])('is refused with %s', (_case, more) => {
    const result = signatureSchema.safeParse({ scheme: 'hmac-sha256', header: 'x-sig', ...more });
    expect(result.success).toBe(false);
  });
});
