import type { Command } from 'commander';
import { formatIssue, type Issue, UserError } from '../../errors.ts';
import { suggest } from '../../input/suggest.ts';
import { catalogueOf, type OwnCatalogue } from '../../providers/own.ts';
import { EXIT } from '../failure.ts';
import { invocation } from '../invocation.ts';
import { type CommonOptions, common } from '../options.ts';
import { processOutput } from '../output.ts';
import { listText, matches, type ProviderLine, providerLine, providerText } from '../providers-text.ts';
import type { Verb } from '../verbs.ts';

/** `oncehook providers`: who can send, from the files that ship and from the user's own. */
const providersVerb: Verb = (command, done) => {
  sub(command, 'list', 'every provider in one table', 'providers list --json', true).action(
    ({ json = false, config }: CommonOptions) => {
      show(lines(catalogueOf(config)), json);
    },
  );
  sub(
    command,
    'search <words...>',
    'the providers that have all of these words in name, category or signature',
    'providers search payments hmac',
  ).action((words: string[], { json = false, config }: CommonOptions) => {
    const catalogue = catalogueOf(config);
    const all = lines(catalogue);
    const found = all.providers.filter((line) => matches(line, words));
    if (found.length > 0) return show({ ...all, providers: found }, json);
    const near = suggest(words.join('-'), catalogue.list());
    const out = processOutput(json);
    if (json) out.result({ ok: false, providers: [], ...(near ? { near } : {}) }, String);
    out.note(
      `No provider has ${words.length === 1 ? 'this word' : 'all of these words'}.${near ? ` Did you mean ${near}?` : ''} For a sender without a file: ${invocation()} providers show custom`,
    );
    done(EXIT.no);
  });
  sub(
    command,
    'show <slug>',
    'one provider: how it signs, what names an event, how it is set up',
    'providers show custom',
  ).action((slug: string, { json = false, config }: CommonOptions) => {
    const catalogue = catalogueOf(config);
    const provider = catalogue.load(slug);
    const own = catalogue.own().includes(slug);
    const out = processOutput(json);
    out.result({ ok: true, own, provider }, () => providerText(provider, own, out));
  });
};
export default providersVerb;

function sub(parent: Command, name: string, summary: string, example: string, isDefault = false): Command {
  return common(parent.command(name, { isDefault }).summary(summary).description(summary), example);
}

interface Lines {
  providers: ProviderLine[];
  /** Of own files that are none: they keep nobody from seeing the others. */
  issues: Issue[];
}

function lines(catalogue: OwnCatalogue): Lines {
  const own = new Set(catalogue.own());
  const found: Lines = { providers: [], issues: [] };
  for (const slug of catalogue.list()) {
    try {
      found.providers.push(providerLine(catalogue.load(slug), own.has(slug)));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      found.issues.push(...error.issues);
    }
  }
  return found;
}

function show({ providers, issues }: Lines, json: boolean): void {
  const out = processOutput(json);
  out.result({ ok: true, providers, issues }, () => listText(providers, out));
  for (const issue of issues) out.note(formatIssue(issue));
}
