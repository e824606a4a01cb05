import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { providerPage } from '../../../scripts/provider-docs/page.ts';
import { outdated, pages } from '../../../scripts/provider-docs.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { resolveSources } from '../../../src/generate/resolve.ts';
import { listProviders, loadProvider } from '../../../src/providers/load.ts';
import type { Provider } from '../../../src/providers/schema.ts';

const folder = join(import.meta.dirname, '../../../docs/providers');
const made = pages();

/** The parts of a page by their headings. */
function sections(page: string): Map<string, string> {
  const [, ...parts] = page.split(/^## /m);
  return new Map(parts.map((part): [string, string] => [part.split('\n', 1)[0] ?? '', part]));
}

const fenced = (page: string) => [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
const rows = (part = '') => part.split('\n').filter((line) => line.startsWith('| `'));
const items = (part = '') => part.split('\n').filter((line) => /^(- |\d+\. )/.test(line));

describe('the pages of providers', () => {
  it('are as they would be made now', () => {
    expect(outdated()).toEqual([]);
  });

  it('have an index with a row for each', () => {
    const index = made.get('README.md') ?? '';
    const linked = [...index.matchAll(/^\| \[[^\]]+\]\(([^)]+)\.md\) /gm)].map(([, slug]) => slug);
    expect(linked.toSorted()).toEqual(listProviders());
  });

  it.each([...made.keys()])('%s links to files that are there', (name) => {
    const links = [...(made.get(name) ?? '').matchAll(/\]\((?!https:)([^)#]+)/g)].map(
      ([, link = '']) => link,
    );
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => !existsSync(join(folder, link)) && !made.has(link))).toEqual([]);
  });
});

describe.each(listProviders())('the page of %s', (slug) => {
  const page = made.get(`${slug}.md`) ?? '';
  const provider = loadProvider(slug);

  it('begins with a configuration that is whole', () => {
    const [text = ''] = fenced(page)
      .filter(([, language]) => language === 'yaml')
      .map(([, , found]) => found ?? '');
    const [source] = resolveSources(parseConfig(text, 'oncehook.yaml'));
    expect(source).toMatchObject({ name: slug, provider: slug, key: provider.key });
  });

  it('tells all that the file tells people', () => {
    const told = [
      ...Object.keys(provider.samples).map((type) => `\`${type}\``),
      ...provider.handshakes.map(({ name }) => `**${name}**`),
      ...provider.questions.map(({ name }) => `**${name}**`),
      ...provider.key.trim().split('\n'),
      ...provider.docs.map((address) => `(${address})`),
      ...(provider.outgoing_key ? [`\`${provider.outgoing_key.header}\``] : []),
    ];
    expect(told.filter((text) => !page.includes(text))).toEqual([]);
    expect(items(sections(page).get('Good to know'))).toHaveLength(provider.notes.length);
    expect(page).not.toMatch(/undefined|\[object|NaN/);
  });
});

describe('the parts of a page', () => {
  const batch = loadProvider('xero');
  const payments = loadProvider('stripe');
  const headings = (provider: Provider) => [...sections(providerPage(provider)).keys()];

  it('are those that the file has something for, in one order', () => {
    expect(headings(payments)).toEqual([
      'At Stripe',
      'In oncehook.yaml',
      'In n8n',
      'What counts as one event',
      'How it is signed',
      'What it gets as an answer',
      'When it tries again',
      'Before you hand anything out',
      'Calls to Stripe itself',
      'Good to know',
      'Try it',
    ]);
    expect(headings(batch)).toContain('Requests that are no events');
    expect(headings({ ...payments, setup: [], notes: [] })).not.toContain('Good to know');
  });

  it('show the answers of the file in the place of the usual ones', () => {
    const answers = (provider: Provider) =>
      rows(sections(providerPage(provider)).get('What it gets as an answer'));
    const refused = { ...payments, answers: { rejected: { status: 406, body: 'no|' } } };
    expect(answers(refused)).toHaveLength(answers(payments).length);
    const changed = answers(refused).filter((row) => !answers(payments).includes(row));
    expect(changed).toEqual([expect.stringMatching(/^\| `rejected` .*\| 406 \| `no\\\|` \|$/)]);
    expect(answers(loadProvider('yookassa')).join()).not.toContain('rejected');
  });

  it('differ for a sender that never tries again', () => {
    const tries = (provider: Provider) => sections(providerPage(provider)).get('When it tries again');
    expect(tries({ ...payments, retry: { ...payments.retry, never: true } })).not.toEqual(tries(payments));
  });
});
