import { compileSignature, signsUrl } from '../../src/providers/compile.ts';
import { isKeyed } from '../../src/providers/compiled.ts';
import type { Provider } from '../../src/providers/schema.ts';
import { joined } from '../../src/providers/words.ts';
import { blocks, code, fence } from './markdown.ts';
import { secretName } from './source.ts';

/** The commands that a provider's page ends with. */
export function tryIt(provider: Provider): (string | undefined)[] {
  const { slug, samples, signature, addresses } = provider;
  const types = Object.keys(samples);
  const unsigned = signature.scheme === 'none';
  const other = types[1];
  const commands: [string, string][] = [
    [`oncehook send ${slug} --times 3`, 'one run of your nodes, two duplicates'],
    ...(other === undefined
      ? []
      : [[`oncehook send ${slug} --type ${word(other)}`, 'another event'] as [string, string]]),
    ...(unsigned ? [] : [[`oncehook send ${slug} --tamper signature`, 'refused'] as [string, string]]),
  ];
  const width = Math.max(...commands.map(([command]) => command.length));
  return [
    `With the workflow published${unsigned ? '' : ' and the secret set'}:`,
    fence('', commands.map(([command, what]) => `${command.padEnd(width)}  # ${what}`).join('\n')),
    keyed(provider)
      ? 'The sender signs with a private key that it alone has. To sign yourself, store the public half of a key of yours beside its own, and add `--private-key FILE`.'
      : undefined,
    addresses === undefined
      ? undefined
      : 'From an address that is not on the list n8n answers 403; `--to-ledger` goes past n8n.',
    `There are samples of ${joined(types.map(code))}.`,
    unsigned
      ? undefined
      : blocks(
          'To see why a request that you captured is refused:',
          fence(
            '',
            `oncehook verify ${slug} --secret-env ${secretName(provider)} --header 'name: value' --body-file body.json${signsUrl(signature) ? ' --url https://…' : ''}`,
          ),
        ),
    'From a clone, write `npm run -s oncehook --` in the place of `oncehook`.',
  ];
}

/** Whether the gate checks by a public key. */
function keyed({ signature, settings }: Provider): boolean {
  const examples = Object.entries(settings).map(([name, { example }]) => [name, example]);
  return isKeyed(compileSignature(signature, { settings: Object.fromEntries(examples) }));
}

/** A word of a command line. */
function word(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text}'`;
}
