import { parseConfig } from '../../src/config/load.ts';
import { type ResolvedSource, resolveSources } from '../../src/generate/resolve.ts';
import { isKeyed } from '../../src/providers/compiled.ts';
import { randomPrivateKey } from '../../src/providers/key-pair.ts';
import { catalogue } from '../../src/providers/load.ts';
import { freshSample, plainSample } from '../../src/providers/sample.ts';
import type { Provider, Sample } from '../../src/providers/schema.ts';
import { sign } from '../../src/providers/sign.ts';

/** A request as the gate gets it. */
export interface Request {
  body: Uint8Array;
  /** Names in lower case. */
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** The settings of a source of this provider in `oncehook.yaml`, below its name: no more than it needs. */
export function sourceLines(slug: string, { signature, addresses, settings }: Provider): string[] {
  const given = Object.entries(settings).map(([name, { example }]) => `${name}: ${JSON.stringify(example)}`);
  return [
    `provider: ${slug}`,
    ...(signature.scheme === 'none' ? [] : ['secrets: [CATALOGUE_SECRET]']),
    ...(signature.scheme === 'none' && !addresses ? ['addresses: any'] : []),
    ...(JSON.stringify(signature).includes('{url}') ? [`public_url: ${publicUrl(slug)}`] : []),
    ...(given.length > 0 ? [`settings: { ${given.join(', ')} }`] : []),
  ];
}

/** The address that a source of this provider is registered with. */
export function publicUrl(slug: string): string {
  return `https://n8n.example.com/webhook/${slug}`;
}

/** A source of this provider, named like it, as a user's configuration gives it; with more lines of settings. */
export function sourceOf(slug: string, more: string[] = []): ResolvedSource {
  const lines = [...sourceLines(slug, catalogue.load(slug)), ...more];
  const text = ['project: catalogue', 'sources:', `  ${slug}:`, ...lines.map((line) => `    ${line}`)].join(
    '\n',
  );
  const [source] = resolveSources(parseConfig(`${text}\n`, 'oncehook.yaml'));
  if (!source) throw new Error('the configuration has no source');
  return source;
}

const privateKeys = new Map<string, string>();

/** A secret of the right shape, or a private key; another one for another `seed` of a single hexadecimal digit. */
export function secretOf({ signature }: Pick<ResolvedSource, 'signature'>, seed = 'a'): string {
  if (isKeyed(signature)) {
    const name = `${signature.key_kind} ${seed}`;
    const made = privateKeys.get(name) ?? randomPrivateKey(signature.key_kind);
    privateKeys.set(name, made);
    return made;
  }
  const rule = { secret_encoding: 'utf8', secret_prefix: '', ...signature };
  const bytes = Buffer.from(seed.repeat(64), 'hex');
  if (signature.scheme === 'basic') return `shop:${seed.repeat(20)}`;
  return rule.secret_prefix + bytes.toString(rule.secret_encoding === 'base64' ? 'base64' : 'hex');
}

/** What is signed, and with what; now and with the source's own secret unless said otherwise. */
export interface Signing {
  secret?: string;
  /** Seconds since 1970. */
  at?: number;
}

/** A request with the signature of its sender. */
export function signed(source: ResolvedSource, request: Request, { secret, at }: Signing = {}): Request {
  const { headers, query, body } = sign({
    signature: source.signature,
    secret: secret ?? secretOf(source),
    timestamp: at ?? Date.now() / 1000,
    ...request,
  });
  return { body, headers: { ...request.headers, ...headers }, query: { ...request.query, ...query } };
}

/** The sample of an event type as a new event: one nonce gives one event. */
export function delivery(
  source: ResolvedSource,
  type: string,
  nonce: string,
  signing: Signing = {},
): Request {
  const { headers, query, body } = freshSample(
    { ...source.providerFile, key: source.key, type: source.type },
    type,
    nonce,
  );
  return signed(source, { headers, query, body }, signing);
}

/** A request as its sample stands in the file, signed unless its check is none. */
export function asItStands(source: ResolvedSource, sample: Sample, sign = true): Request {
  const request = plainSample(sample, source.providerFile.content_type);
  return sign ? signed(source, request) : request;
}
