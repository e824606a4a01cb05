import type { Provider } from '../../src/providers/schema.ts';
import { joined } from '../../src/providers/words.ts';
import { answers } from './answers.ts';
import { event } from './event.ts';
import { exchanges } from './exchanges.ts';
import { blocks, code, fence, list, numbered, possessive, section, sentence } from './markdown.ts';
import { outgoing, recheck } from './payment.ts';
import { retries } from './retries.ts';
import { signed } from './signed.ts';
import { configText, secretName } from './source.ts';
import { tryIt } from './try-it.ts';

/** The page of a provider: what people need to set it up, and what they can rely on. Markdown, from its file alone. */
export function providerPage(file: Provider): string {
  const { slug } = file;
  const provider = { ...file, name: shortName(file) };
  const page = blocks(
    `<!-- Made by npm run docs:providers from templates/providers/${slug}.yaml. Change that file, not this one. -->`,
    `# ${file.name}`,
    `${about(provider)} [All providers](README.md).`,
    section(`At ${provider.name}`, numbered(provider.setup.map(sentence)), secret(provider)),
    section('In oncehook.yaml', fence('yaml', configText(provider)), ...configured(provider)),
    section('In n8n', numbered(inN8n(provider))),
    section('What counts as one event', ...event(provider)),
    section('How it is signed', ...signed(provider)),
    section('What it gets as an answer', ...answers(provider)),
    section('Requests that are no events', ...exchanges(provider)),
    section('When it tries again', ...retries(provider)),
    section('Before you hand anything out', ...recheck(provider)),
    section(`Calls to ${provider.name} itself`, outgoing(provider)),
    section('Good to know', list(provider.notes.map(sentence))),
    section('Try it', ...tryIt(provider)),
  );
  return `${page}\n`;
}

/** `Meta` of `Meta (WhatsApp, Messenger)`, for sentences. */
function shortName({ name }: Provider): string {
  return name.replace(/ \(.*\)$/, '');
}

/** `verifying requests` of an address that ends in `/a1b2-verifying-requests.html`. */
function pageName(address: string): string {
  const { hostname, pathname } = new URL(address);
  const last = pathname.split('/').findLast((step) => step !== '') ?? '';
  const words = last.replace(/\.\w+$/, '').replace(/^[0-9a-z]*\d[0-9a-z]*[-_]/i, '');
  return words === '' ? hostname : words.replaceAll(/[-_]+/g, ' ').toLowerCase();
}

function about({ docs, content_type, category, name }: Provider): string {
  const sends = content_type === 'application/json' ? 'JSON' : code(content_type);
  const links = docs.map((address) => `[${pageName(address)}](${address})`);
  const where = links.length === 0 ? '' : ` ${possessive(name)} own documentation: ${joined(links)}.`;
  return `Category: ${category}. Sends ${sends}.${where}`;
}

function secret({ secret }: Provider): string | undefined {
  return secret === undefined ? undefined : `**The secret**: ${sentence(secret)}`;
}

function configured(provider: Provider): (string | undefined)[] {
  const { slug, signature, configurable } = provider;
  const stored =
    signature.scheme === 'none'
      ? ''
      : ` Then \`oncehook secrets add ${slug}\` asks for the secret, or takes it from the environment variable ${code(secretName(provider))}.`;
  return [
    `\`oncehook generate\` writes the workflow, \`oncehook migrate\` makes the source known to the database.${stored} Everything else that may stand here is in [configuration](../configuration.md).`,
    configurable.includes('signature')
      ? 'The way of signing is left open: `signature` in the source changes it ([what can stand there](../providers.md)).'
      : undefined,
  ];
}

function inN8n({ slug, items, fetch, addresses }: Provider): string[] {
  const credential = fetch?.credential === 'httpHeaderAuth' ? 'Header Auth' : 'Basic Auth';
  return [
    `Import \`workflows/${slug}.json\`; its Postgres nodes need the credential \`Oncehook Postgres\` ([how](../n8n.md)).`,
    ...(fetch === undefined
      ? []
      : [
          `Give the node that fetches the object its credential (${credential}): ${sentence(fetch.credential_hint)}`,
        ]),
    `Put your own nodes in the place of _Your business logic_. They run ${
      items === undefined
        ? 'once for each event'
        : 'once for each new event of a request, one after the other'
    }.`,
    ...(addresses === undefined
      ? []
      : [
          "Behind a proxy, n8n needs `N8N_PROXY_HOPS` to see the sender's address, else everything gets 403.",
        ]),
    `Publish the workflow. Its address is \`https://<your n8n>/webhook/${slug}\`.`,
  ];
}
