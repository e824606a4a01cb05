import { z } from 'zod';
import { parseRecipe } from './recipe.ts';

/** Small schemas that provider files and signature schemes share. */

/** A header's name; written in any case, kept in lower case. */
export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'a header name such as x-signature')
  .toLowerCase();

/** A recipe's text, of which every alternative must be well formed. */
export const recipeText = z.string().superRefine((text, context) => {
  for (const { message, line, column } of parseRecipe(text).issues) {
    context.addIssue({
      code: 'custom',
      message: `a valid recipe (line ${line}, column ${column}: ${message})`,
    });
  }
});

/** A text that may stand in a header before the value: printable ASCII. */
export const headerText = z.string().regex(/^[\x20-\x7e]{1,100}$/, 'up to 100 printable ASCII characters');
