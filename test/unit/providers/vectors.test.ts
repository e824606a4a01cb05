import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadProvider } from '../../../src/providers/load.ts';
import { sign } from '../../../src/providers/sign.ts';
import { signatureSchema } from '../../../src/providers/signature.ts';

interface Vector {
  /** The official library that made the signature. */
  signedBy: string;
  secret: string;
  timestamp: number;
  signature: unknown;
  headers: Record<string, string>;
  body: string;
}

const folder = new URL('../../fixtures/vectors/', import.meta.url);
const vectors = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file): [string, Vector] => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8'))]);

const { headers: stripeHeaders, ...stripe } = Object.fromEntries(vectors)['stripe.json'] as Vector;

describe('signing', () => {
  it.each(vectors)('gives the official signature of %s', (_file, vector) => {
    const signature = signatureSchema.parse(vector.signature);
    const { secret, timestamp, headers } = vector;
    const unsigned = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !name.includes('signature')),
    );
    const made = sign({ signature, secret, timestamp, headers: unsigned, body: Buffer.from(vector.body) });
    expect(Object.keys(made).length).toBeGreaterThan(0);
    for (const [name, value] of Object.entries(made)) {
      // A header may hold further signatures: a list with blanks between.
      expect([headers[name], ...(headers[name] ?? '').split(' ')]).toContain(value);
    }
  });

  it('gives the official signature with the provider file, and with the secret as it is shown', () => {
    const { signature } = loadProvider('stripe');
    const body = Buffer.from(stripe.body);
    expect(sign({ ...stripe, signature, headers: {}, body })).toEqual(stripeHeaders);
  });

  it('gives another signature for a secret that is decoded first', () => {
    const signature = {
      ...signatureSchema.parse(stripe.signature),
      secret_encoding: 'base64',
      secret_prefix: 'whsec_',
    };
    const made = sign({
      ...stripe,
      signature: signatureSchema.parse(signature),
      headers: {},
      body: Buffer.from(stripe.body),
    });
    expect(made).not.toEqual(stripeHeaders);
  });
});
