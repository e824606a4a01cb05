import { describe, expect, it } from 'vitest';
import { compileSignature } from '../../../src/providers/compile.ts';
import { randomSecret } from '../../../src/providers/keys.ts';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import { freshSample } from '../../../src/providers/sample.ts';
import { sign } from '../../../src/providers/sign.ts';
import { type Asked, libraries } from '../../oracles/libraries.ts';

const url = 'https://n8n.example.com/webhook/shop?from=sender';
const now = () => Math.floor(Date.now() / 1000);

/** A sample as it is signed here. */
function signedHere(slug: string, type: string, timestamp: number): Asked {
  const provider = loadProvider(slug);
  const signature = compileSignature(provider.signature, { publicUrl: url });
  const { headers, query, body } = freshSample(provider, type, 'n');
  const secret = randomSecret(signature);
  const made = sign({ signature, secret, headers, query, body, timestamp });
  return {
    body: made.body,
    headers: { ...headers, ...made.headers },
    query: { ...query, ...made.query },
    secret,
    url,
  };
}

const samples = Object.keys(libraries).flatMap((slug) =>
  Object.keys(loadProvider(slug).samples).map((type): [string, string] => [slug, type]),
);

describe("the senders' own libraries", () => {
  it.each(samples)('accept the sample of %s: %s', async (slug, type) => {
    const asked = signedHere(slug, type, now());
    expect(await libraries[slug]?.accepts(asked)).toBe(true);
    expect(await libraries[slug]?.accepts({ ...asked, secret: `${asked.secret.slice(0, -1)}!` })).toBe(false);
  });

  it.each(samples.filter(([slug]) => libraries[slug]?.sign))(
    'sign the sample of %s as it is signed here: %s',
    async (slug, type) => {
      const timestamp = now();
      const asked = signedHere(slug, type, timestamp);
      expect(asked.headers).toMatchObject((await libraries[slug]?.sign?.(asked, timestamp)) ?? {});
    },
  );

  it('are asked about every provider whose file says so', () => {
    const said = listProviders().filter((slug) => loadProvider(slug).proof?.by === 'sdk');
    expect(said.filter((slug) => !(slug in libraries))).toEqual([]);
  });
});
