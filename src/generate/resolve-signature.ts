import type { SourceConfig } from '../config/load.ts';
import { Bug } from '../errors.ts';
import { check } from '../input/schema-issues.ts';
import type { Provider } from '../providers/schema.ts';
import { type CompiledSignature, type Signature, signatureSchema } from '../providers/signature.ts';
import { compileSigned } from '../providers/signed.ts';
import type { Report } from './resolve-checks.ts';

/**
 * The provider's signature, changed by the source where the provider leaves it open: settings of the same scheme
 * replace single ones, another scheme replaces all. Undefined where it is no signature, which was reported.
 */
export function resolveSignature(
  source: SourceConfig,
  provider: Provider,
  report: Report,
): Signature | undefined {
  const own = source.signature;
  if (own === undefined) return provider.signature;
  if (!provider.configurable.includes('signature')) {
    report.issue(['signature'], {
      message: `${provider.name} has one way to sign, which its provider file holds.`,
      expected: 'no signature here',
      remedy: 'Remove it; for a sender of your own use a provider that leaves it open.',
    });
    return provider.signature;
  }
  const same = own['scheme'] === undefined || own['scheme'] === provider.signature.scheme;
  const merged = same ? { ...provider.signature, ...own } : own;
  const result = check(signatureSchema, merged, report.at, [...report.prefix, 'signature']);
  if ('value' in result) return result.value;
  report.add(result.issues);
  return undefined;
}

/** The signature as Postgres takes it: the template in parts, and one tolerance, the one that holds. */
export function compileSignature(
  signature: Signature,
  toleranceSeconds: number | undefined,
): CompiledSignature {
  if (signature.scheme !== 'hmac-sha256') return signature;
  const { parts } = compileSigned(signature.signed);
  if (!parts) throw new Bug('A signed template passed the schema and cannot be compiled.');
  const { timestamp, signed: _template, ...rest } = signature;
  if (!timestamp) return { ...rest, signed: parts };
  return {
    ...rest,
    signed: parts,
    timestamp: { ...timestamp, tolerance: toleranceSeconds ?? timestamp.tolerance },
  };
}

/** A scheme needs a secret to check by; without a scheme a secret would suggest a safety that is not there. */
export function checkSecrets(source: SourceConfig, signature: Signature, report: Report): void {
  if (signature.scheme === 'none' && source.secrets.length > 0) {
    report.issue(['secrets'], {
      message: 'This sender signs nothing, so that a secret would never be looked at.',
      expected: 'no secrets here',
      remedy: 'Remove them; the list of addresses is what tells the sender from a stranger.',
    });
  }
  if (signature.scheme !== 'none' && source.secrets.length === 0) {
    report.issue(['secrets'], {
      message: 'The signature cannot be checked without a secret.',
      expected: 'the name of at least one environment variable',
      remedy: 'Add for example: secrets: [MY_WEBHOOK_SECRET]',
    });
  }
}

/** The addresses that may send; null for all. A sender that signs nothing needs them, or an explicit `any`. */
export function resolveAddresses(
  source: SourceConfig,
  provider: Provider,
  signature: Signature,
  report: Report,
): string[] | null {
  if (source.addresses === 'any') return null;
  const addresses = source.addresses ?? provider.addresses ?? null;
  if (signature.scheme === 'none' && addresses === null) {
    report.issue(['addresses'], {
      message:
        'This source has neither a signature nor a list of addresses, so that anyone could invent events.',
      expected: 'a list of addresses and networks, or the word any',
      remedy:
        "List the sender's addresses, or write `addresses: any` where something else keeps strangers out.",
    });
  }
  return addresses;
}
