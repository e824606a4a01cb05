import { signsUrl } from '../../src/providers/compile.ts';
import type { Provider } from '../../src/providers/schema.ts';
import {
  joined,
  placeWords,
  proofWords,
  signatureWords,
  signedTemplates,
  uncoveredWords,
} from '../../src/providers/words.ts';
import { blocks, code, ended, fence, list, sentence } from './markdown.ts';

/** What a provider's page says of its signature, and of what it does not cover. */
export function signed({ signature, uncovered, proof, addresses, name }: Provider): (string | undefined)[] {
  const place = placeWords(signature);
  const templates = signedTemplates(signature);
  return [
    sentence([signatureWords(signature), place].filter((words) => words !== undefined).join(', ')),
    templates.length === 0 ? undefined : blocks('What is signed:', fence('', templates.join('\n'))),
    age(signature),
    signsUrl(signature)
      ? 'The address is the one in `public_url`, never what a request says of itself.'
      : undefined,
    addresses === undefined
      ? undefined
      : `${name} sends from these addresses, which the Webhook node lets in alone: ${joined(addresses.map(code))}.`,
    uncovered.length === 0
      ? undefined
      : blocks('Anyone could change without being noticed:', list(uncoveredWords(uncovered))),
    proof && `How this is known: ${proofWords(proof.by)}. ${ended(proof.source)}`,
  ];
}

function age(signature: Provider['signature']): string | undefined {
  if (!('timestamp' in signature) || signature.timestamp === undefined) return undefined;
  const { tolerance } = signature.timestamp;
  return tolerance === 'none'
    ? 'The time is signed, but a request may be of any age.'
    : `A request may be ${tolerance} seconds old (\`tolerance\` in the source changes that).`;
}
