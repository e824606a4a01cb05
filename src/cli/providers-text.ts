import type { Provider } from '../providers/schema.ts';
import { joined, placeWords, proofWords, signatureWords, uncoveredWords } from '../providers/words.ts';
import { type Output, table } from './output.ts';

/** One line of the catalogue. */
export interface ProviderLine {
  slug: string;
  name: string;
  category: string;
  /** In words. */
  signature: string;
  /** How the signature is known, in words. */
  proof: string;
  /** Whether it is a file of the user's. */
  own: boolean;
}

/** What a list tells of a provider. */
export function providerLine(provider: Provider, own: boolean): ProviderLine {
  const { slug, name, category, signature, proof } = provider;
  return {
    ...{ slug, name, category, own },
    signature: signatureWords(signature),
    proof: own ? 'your own file' : proofWords(proof?.by),
  };
}

/** Whether every word stands somewhere in the line; case and accents do not count. */
export function matches(line: ProviderLine, words: readonly string[]): boolean {
  const text = plain([line.slug, line.name, line.category, line.signature].join(' '));
  return words.every((word) => text.includes(plain(word)));
}

function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The lines as a table for people. */
export function listText(lines: readonly ProviderLine[], out: Output): string {
  const head = ['slug', 'name', 'category', 'signature', 'proven by'];
  const rows = lines.map(({ slug, name, category, signature, proof }) => [
    slug,
    name,
    category,
    signature,
    proof,
  ]);
  return table([head, ...rows], (cell, _, row) => (row === 0 ? out.paint('dim', cell) : cell));
}

/** One provider for people: how it signs, what names an event, how it is set up. */
export function providerText(provider: Provider, own: boolean, out: Output): string {
  const { slug, name, key, retry, settings, setup, secret, notes, docs, uncovered } = provider;
  const { category, signature, proof } = providerLine(provider, own);
  const place = placeWords(provider.signature);
  const facts = [
    ['category', category],
    ['signature', place === undefined ? signature : `${signature}, ${place}`],
    ['proven by', proof],
    ['not covered', uncovered.length === 0 ? '' : joined(uncoveredWords(uncovered))],
    ['key', key.trim().split('\n').join(' or ')],
    ['tries again', retry.never ? 'never' : (retry.schedule ?? (retry.window ? `for ${retry.window}` : ''))],
    ['secret', secret ?? ''],
    ['settings', Object.keys(settings).join(', ')],
  ].filter(([, value]) => value !== '');
  const part = (title: string, lines: readonly string[], mark: (index: number) => string) =>
    lines.length === 0
      ? []
      : ['', out.paint('bold', title), ...lines.map((line, index) => `  ${mark(index)} ${line.trim()}`)];
  return [
    out.paint('bold', `${name} (${slug})`),
    table(facts.map(([label = '', value = '']) => [`  ${label}`, value.trim()])),
    ...part('Set up', setup ?? [], (index) => `${index + 1}.`),
    ...part('Good to know', notes, () => '-'),
    ...part('Documentation', docs, () => '-'),
  ].join('\n');
}
