import { describe, expect, it } from 'vitest';
import { compileSignature } from '../../../src/providers/compile.ts';
import { isMac } from '../../../src/providers/compiled.ts';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import { sign } from '../../../src/providers/sign.ts';
import { signatureSchema } from '../../../src/providers/signature.ts';
import {
  putAt,
  putWithin,
  readDocument,
  valueAt,
  writeDocument,
} from '../../../src/providers/signing/document.ts';
import { readVectors, type Vector } from '../../postgres/harness/gate-signatures.ts';

const vectors = readVectors();

const { headers: stripeHeaders, ...stripe } = Object.fromEntries(vectors)['stripe'] as Vector;

/** The provider of a vector: one of them is written in two words here alone. */
function slugOf(name: string): string {
  return name === 'mercado-pago' ? 'mercadopago' : name;
}

/** The body without its signature, where that stands in it. */
function unsignedBody({ body, headers, signature }: Vector): Uint8Array {
  const {
    body: path,
    item,
    each,
  } = { ...compileSignature(signatureSchema.parse(signature)) } as {
    [place in 'body' | 'item' | 'each']?: string[];
  };
  const document = path || item ? readDocument(Buffer.from(body), headers['content-type']) : undefined;
  if (!document) return Buffer.from(body);
  if (path) putAt(document, path, 'none');
  if (item) for (const one of valueAt(document, each ?? []) as unknown[]) putWithin(one, item, 'none');
  return writeDocument(document);
}

describe('signing', () => {
  it.each(vectors)('gives the official signature of %s', (_file, vector) => {
    const signature = compileSignature(signatureSchema.parse(vector.signature), { publicUrl: vector.url });
    if (!isMac(signature)) throw new Error('a vector without a signature');
    const { secret, timestamp, headers, query = {} } = vector;
    const unsigned = Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => name !== signature.header && name !== signature.timestamp?.header,
      ),
    );
    const body = unsignedBody(vector);
    const made = sign({ signature, secret, timestamp, headers: unsigned, query, body });
    expect(Object.keys(made.headers).length > 0).toBe(Buffer.from(body).toString() === vector.body);
    // Hexadecimal in either case.
    const inBody = Buffer.from(made.body).toString();
    expect(inBody.toLowerCase()).toBe(vector.body.toLowerCase());
    for (const [name, value] of Object.entries(made.headers)) {
      // A header may hold further signatures, a list with blanks between, and further pairs.
      expect([headers[name], ...(headers[name] ?? '').split(/[ ;]/)]).toContain(value);
    }
  });

  it.each(vectors.filter(([name]) => listProviders().includes(slugOf(name))))(
    'is described in the provider file of %s as in its vector',
    (name, { signature }) => {
      const shipped = compileSignature(loadProvider(slugOf(name)).signature);
      const known = compileSignature(signatureSchema.parse(signature));
      // A file may know further texts that the sender signs.
      const signed = isMac(known) ? { signed: expect.arrayContaining(known.signed) } : {};
      expect(shipped).toEqual({ ...known, ...signed });
    },
  );

  it('gives the official signature with the provider file, and with the secret as it is shown', () => {
    const signature = compileSignature(loadProvider('stripe').signature);
    const body = Buffer.from(stripe.body);
    expect(sign({ ...stripe, query: {}, signature, headers: {}, body }).headers).toEqual(stripeHeaders);
  });

  it('gives another signature for a secret that is decoded first', () => {
    const signature = signatureSchema.parse({
      ...(stripe.signature as object),
      secret_encoding: 'base64',
      secret_prefix: 'whsec_',
    });
    const made = sign({
      ...stripe,
      query: {},
      signature: compileSignature(signature),
      headers: {},
      body: Buffer.from(stripe.body),
    });
    expect(made.headers).not.toEqual(stripeHeaders);
  });
});
