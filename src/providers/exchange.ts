import { z } from 'zod';
import { compileAnswer } from './answer-template.ts';
import { headerText } from './fields.ts';
import { sample } from './request-sample.ts';

/** What passes between a sender and the gate beside events: answers of its own kind, handshakes and questions. */

/** A text that may repeat parts of the request. */
const answerBody = z
  .string()
  .max(10_000)
  .superRefine((text, context) => {
    const { issue } = compileAnswer(text);
    if (issue !== undefined) context.addIssue({ code: 'custom', message: issue });
  })
  .describe(
    'The body, as it is sent; {body.path}, {header.name} and {query.name} stand for what the request holds, a brace is written twice. In JSON a value is escaped for the text that it stands in.',
  );

export const answer = z
  .strictObject({
    status: z.int().min(200).max(599).describe('The HTTP status.').exactOptional(),
    body: answerBody.exactOptional(),
    content_type: headerText.describe("The body's content type.").exactOptional(),
  })
  .describe('What the sender gets to hear; what is left out keeps its default.');

/** `body.type`, `header.x-test`, `query."hub.mode"`. */
const requestPlace = z
  .string()
  .regex(
    /^(body(\.([^\s."{}]+|"[^"{}]+"))+|(header|query)\.([^\s."{}]+|"[^"{}]+"))$/,
    'a place in the request such as body.type, header.x-test or query."hub.mode"',
  );

const when = z
  .record(
    requestPlace,
    z.union([z.string(), z.number(), z.strictObject({ is: z.enum(['present', 'absent', 'empty']) })]),
  )
  .refine((places) => Object.keys(places).length > 0, 'at least one place and what stands there')
  .describe(
    'Which requests these are: what stands at each of these places, as text, or { is: present }, { is: absent } (also null), { is: empty } (an empty list, object or text).',
  );

/** A MAC of a text of somebody's choice would let him sign: only who has proved to know the secret may ask for one. */
export function asksForMac({ body = '' }: z.infer<typeof answer>): boolean {
  const parts = compileAnswer(body).parts ?? [];
  return parts.some((part) => typeof part !== 'string' && part.as !== undefined);
}

const noMac = answer.refine((one) => !asksForMac(one), {
  path: ['body'],
  error: 'no |hmac-sha256 here: it is for handshakes that are signed',
});

const name = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'a name such as url_verification');

/** The answer of an outcome. */
export const outcomeAnswer = noMac;

/** A request of the sender's that is no event: it checks the address and expects its own answer. */
export const handshake = z
  .strictObject({
    name: name.describe('How it is called in the ledger and in the docs.'),
    method: z.enum(['POST', 'GET']).default('POST').describe('The method of the request.'),
    when,
    check: z
      .union([
        z.enum(['signature', 'none']),
        z.strictObject({ secret_at: requestPlace.describe('Where one of the live secrets must stand.') }),
      ])
      .describe(
        "What must hold before it is answered: the source's own signature check; a live secret at a place; or nothing, where the sender signs nothing and the answer tells nothing.",
      ),
    exact: z
      .boolean()
      .default(false)
      .describe('Whether the body must hold these fields and no others, so that no event is taken for it.'),
    answer,
    sample: sample.describe('Such a request.'),
  })
  .refine(({ check, answer: given }) => check === 'signature' || !asksForMac(given), {
    path: ['answer', 'body'],
    error: 'no |hmac-sha256 without `check: signature`: anyone could have a text of his own signed',
  })
  .describe('A request that checks the address and is no event.');

/** A request that asks for a decision, and is no event either. */
export const question = z
  .strictObject({
    name: name.describe('How it is called in the ledger and in the docs.'),
    when,
    sample: sample.describe('Such a request.'),
    refuse: noMac.describe("The answer where nothing decides, in the sender's own words."),
    accept: noMac.describe(
      'The answer that says yes: what the decision branch is generated with as an example.',
    ),
  })
  .describe('A request that asks whether something may happen; a branch of the user decides.');
