import { createHash } from 'node:crypto';
import { parseRecipe, type RecipePart } from '../../src/providers/recipe.ts';
import type { Provider, Sample } from '../../src/providers/schema.ts';

/** What recipes look into; `bytes` is the body as it is sent. */
export type Looked = Pick<Sample, 'body' | 'headers' | 'query'> & { bytes?: Uint8Array };

/** What the recipes of a provider look into: the object that was fetched, where there is one. */
export function lookedAt(
  { fetch }: Pick<Provider, 'fetch'>,
  { body, fetched, headers, query }: Sample,
): Looked {
  return { body: fetch ? (fetched ?? {}) : body, headers, query };
}

/** The text that a recipe gives, written anew for the tests and without its escapes; undefined where it gives none. */
export function evaluate(recipe: string, looked: Looked): string | undefined {
  const parsed = parseRecipe(recipe);
  if (!('recipe' in parsed)) return undefined;
  for (const parts of parsed.recipe) {
    const texts = parts.map((part) => textAt(part, looked));
    if (texts.every((text) => text !== undefined && text !== '')) return texts.join('');
  }
  return undefined;
}

function textAt(part: RecipePart, { body, headers, query, bytes }: Looked): string | undefined {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'header':
      return headers[part.name];
    case 'query':
      return query[part.name];
    case 'body_sha256':
      return createHash('sha256')
        .update(bytes ?? JSON.stringify(body))
        .digest('hex');
    default: {
      const found = part.path.reduce<unknown>(
        (at, step) => (at as Record<string, unknown> | null)?.[step],
        body,
      );
      return ['string', 'number'].includes(typeof found) ? String(found) : undefined;
    }
  }
}
