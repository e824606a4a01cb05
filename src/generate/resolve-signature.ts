import type { SourceConfig } from '../config/load.ts';
import { check } from '../input/schema-issues.ts';
import { signsUrl } from '../providers/compile.ts';
import type { Provider } from '../providers/schema.ts';
import { type Signature, signatureSchema } from '../providers/signature.ts';
import type { Report } from './resolve-checks.ts';

const places = ['header', 'query', 'body', 'item'];

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
  const merged = same ? { ...withoutPlace(provider.signature, own), ...own } : own;
  const result = check(signatureSchema, merged, report.at, [...report.prefix, 'signature']);
  if ('value' in result) return result.value;
  report.add(result.issues);
  return undefined;
}

/** A signature stands in one place: another one takes the place of the provider's. */
function withoutPlace(signature: Signature, own: Record<string, unknown>): Record<string, unknown> {
  if (!places.some((place) => own[place] !== undefined)) return signature;
  return Object.fromEntries(Object.entries(signature).filter(([name]) => !places.includes(name)));
}

/** The address that the sender calls, where the signature covers it: never what a request says. */
export function checkPublicUrl(source: SourceConfig, signature: Signature, report: Report): void {
  if (!signsUrl(signature) || source.publicUrl !== undefined) return;
  report.issue(['public_url'], {
    message: 'The sender signs the address that it calls, so that the gate has to know it.',
    expected: "the webhook's address exactly as it is registered at the sender",
    remedy: `Add for example: public_url: https://n8n.example.com/webhook/${source.path}`,
  });
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
