import { signsUrl } from '../../src/providers/compile.ts';
import type { Provider } from '../../src/providers/schema.ts';

/** The least that `oncehook.yaml` needs for a provider, as text. */

/** The environment variable that its page names. */
export function secretName({ slug }: Provider): string {
  return `${slug.toUpperCase().replaceAll('-', '_')}_WEBHOOK_SECRET`;
}

/** A source's lines below `sources:`, from the provider's file alone. */
export function sourceLines(provider: Provider): string[] {
  const { slug, signature, settings, questions } = provider;
  return [
    `  ${slug}:`,
    `    provider: ${slug}`,
    ...(signature.scheme === 'none' ? [] : [`    secrets: [${secretName(provider)}]`]),
    ...(signature.scheme === 'none' && provider.addresses === undefined
      ? ['    addresses: [203.0.113.0/24] # the addresses that it sends from']
      : []),
    ...(signsUrl(signature)
      ? [
          `    public_url: https://n8n.example.com/webhook/${slug} # exactly as it is registered at the sender`,
        ]
      : []),
    ...(Object.keys(settings).length === 0 ? [] : ['    settings:']),
    ...Object.entries(settings).map(
      ([name, { example, describe }]) => `      ${name}: ${JSON.stringify(example)} # ${oneLine(describe)}`,
    ),
    ...(questions.length === 0 ? [] : ['    # decide: true # for a branch of your own that decides']),
  ];
}

/** A whole small `oncehook.yaml`. */
export function configText(provider: Provider): string {
  return ['project: shop', 'sources:', ...sourceLines(provider), ''].join('\n');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
