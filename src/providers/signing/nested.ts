import { UserError } from '../../errors.ts';
import type { Document } from './document.ts';

type Tree = string | Map<string, Tree>;

/**
 * The fields of a form whose names nest as PHP reads them (`products[0][name]`), as one JSON text: names sorted, every
 * value a text, `/` escaped. What has the names 0, 1, 2 … is a list.
 * @throws UserError where the body is no form, or a name does not nest.
 */
export function sortedJson(document: Document): string {
  if (document.kind !== 'form') throw unfit('is no form');
  const root = new Map<string, Tree>();
  for (const [name, value] of document.fields) {
    if (!/^[^[\]]+(\[[^[\]]+\]){0,8}$/.test(name)) throw unfit('has a name that does not nest');
    put(root, name.replace(/\]+$/, '').replaceAll(']', '').split('['), value);
  }
  return write(root);
}

function put(tree: Map<string, Tree>, [step = '', ...more]: string[], value: string): void {
  const old = tree.get(step);
  if (old !== undefined && (typeof old === 'string') !== (more.length === 0))
    throw unfit('has a name that stands for a text and for further names');
  if (more.length === 0) tree.set(step, value);
  else {
    const below = old instanceof Map ? old : new Map<string, Tree>();
    tree.set(step, below);
    put(below, more, value);
  }
}

function write(tree: Tree): string {
  if (typeof tree === 'string') return phpText(tree);
  const names = [...tree.keys()];
  const numbered = names.every((name) => /^(0|[1-9]\d{0,14})$/.test(name));
  names.sort((a, b) => (numbered ? Number(a) - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(b))));
  const texts = names.map((name) => write(tree.get(name) ?? ''));
  if (names.every((name, index) => name === `${index}`)) return `[${texts.join(',')}]`;
  return `{${names.map((name, index) => `${phpText(name)}:${texts[index]}`).join(',')}}`;
}

/** PHP leaves letters as they are, but not slashes and the two line ends of Unicode. */
function phpText(text: string): string {
  return JSON.stringify(text)
    .replaceAll('/', '\\/')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

function unfit(why: string): UserError {
  return new UserError({
    message: `The signature is made of the fields of a form, and the body ${why}.`,
    remedy: 'Choose another body or content type.',
  });
}
