import { z } from 'zod';

/** The sender signs nothing: only the list of addresses tells it from a stranger. */
export const noneSchema = z
  .strictObject({ scheme: z.literal('none').describe('The sender signs nothing; needs `addresses`.') })
  .describe('No signature.');
