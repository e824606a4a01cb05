import type { Provider } from '../../src/providers/schema.ts';
import { proofWords, signatureWords } from '../../src/providers/words.ts';
import { duplicateWords } from './answers.ts';
import { blocks, code, list, section, table } from './markdown.ts';

/** The catalogue's index: every provider in one table. Markdown. */
export function cataloguePage(providers: readonly Provider[]): string {
  const page = blocks(
    '<!-- Made by npm run docs:providers from templates/providers. Change those files, not this one. -->',
    '# Providers',
    `${providers.length} senders are known. \`provider: <name>\` in [oncehook.yaml](../configuration.md) takes what is particular to one from its file: how it signs, what names an event, which answers it wants, how long it tries again.`,
    table(
      ['provider', 'category', 'signature', 'key', 'how the signature is known', 'a duplicate gets'],
      providers.map((provider) => [
        `[${provider.name}](${provider.slug}.md)`,
        provider.category,
        signatureWords(provider.signature),
        keyWords(provider),
        proofWords(provider.proof?.by),
        duplicateWords(provider),
      ]),
    ),
    section(
      'How the signature is known',
      list([
        "**checked against the sender's own library**: in the tests, that library accepts what is signed here, and what it signs is accepted here.",
        '**checked against a signed request**: in the tests, a request that the sender, its library or its published rule signed is accepted, and refused with any one byte changed.',
        '**written after the documentation**: nobody has seen a real delivery yet. Try it with a test event of the sender before you rely on it, and tell us.',
        '**unproven**: not even that.',
      ]),
    ),
    section(
      'Yours is not among them?',
      'A provider is one file. [How a provider file is written](../providers.md) takes five minutes for a sender with a signature of a known kind; `provider: custom` does without a file. Contribute it, so that the next one finds it here.',
    ),
  );
  return `${page}\n`;
}

/** The first line of the key, and how many follow. */
function keyWords({ key }: Provider): string {
  const [first = '', ...more] = key.trim().split('\n');
  const short = first.length > 72 ? `${first.slice(0, 71)}…` : first;
  return `${code(short)}${more.length === 0 ? '' : ` and ${more.length} more`}`;
}
