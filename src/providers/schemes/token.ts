import { z } from 'zod';
import { headerText } from '../fields.ts';
import { checkPlace } from './checks.ts';
import { place } from './parts.ts';

/** A fixed secret in the request. It proves who sends, not what was sent. */
export const tokenSchema = z
  .strictObject({
    scheme: z.literal('token').describe('The secret itself stands in the request.'),
    ...place,
    prefix: headerText.describe('Text before the token, e.g. `Bearer ` with its blank.').exactOptional(),
  })
  .superRefine((value, context) => {
    checkPlace(value, context);
    if (value.each !== undefined && value.item === undefined)
      context.addIssue({ code: 'custom', path: ['each'], message: 'an `item` beside it' });
  })
  .describe('A fixed token.');
