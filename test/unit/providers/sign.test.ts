import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { compileSignature } from '../../../src/providers/compile.ts';
import { type SignRequest, sign as signAll } from '../../../src/providers/sign.ts';
import { signatureSchema } from '../../../src/providers/signature.ts';

const compiled = (written: object) => compileSignature(signatureSchema.parse(written));
const hmac = (more: object = {}) => compiled({ scheme: 'hmac', header: 'X-Sig', ...more });
const request = { secret: 'secret', body: Buffer.from('{"a":1}'), headers: {}, timestamp: 1_760_000_000.25 };

/** The headers that signing adds. */
const sign = (request: SignRequest) => signAll(request).headers;

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
    const token = compiled({ scheme: 'token', header: 'Authorization', prefix: 'Bearer ' });
    expect(sign({ ...request, signature: token })).toEqual({ authorization: 'Bearer secret' });
    expect(sign({ ...request, signature: { scheme: 'none' } })).toEqual({});
  });

  it('puts a signature into the body and keeps the digits of its numbers', () => {
    const signature = compiled({
      scheme: 'hmac',
      body: 'a.sig',
      partial: true,
      signed: '{body.n}|{body.big}',
    });
    const body = Buffer.from('{"n":1.0,"big":820982911946154508}');
    const mac = createHmac('sha256', 'secret').update('1.0|820982911946154508').digest('hex');
    expect(Buffer.from(signAll({ ...request, body, signature }).body).toString()).toBe(
      `{"n":1.0,"big":820982911946154508,"a":{"sig":"${mac}"}}`,
    );
  });

  it.each([
    ['a value that the body lacks', { partial: true, signed: '{body.x}' }, '{"a":1}'],
    ['fields of another kind', { signed: '{fields}', fields: { from: 'form' } }, '{"a":1}'],
    ['a body that cannot be read', { partial: true, signed: '{body.x}' }, 'a=1'],
    [
      'a list that is not there',
      { header: undefined, each: 'l', item: 's', partial: true, signed: '{item.x}' },
      '{}',
    ],
    ['an address that is not known', { signed: '{url}{body}' }, '{}'],
  ])('refuses %s', (_case, more, body) => {
    const { header, ...rest } = { header: 'x-sig', ...more };
    const signature = compiled({ scheme: 'hmac', ...rest, ...(header && { header }) });
    expect(() => signAll({ ...request, signature, body: Buffer.from(body) })).toThrow(UserError);
  });
});
