import { shapeOf } from '../../providers/compile-batches.ts';
import { IF_FALSE } from '../../workflow/nodes/if.ts';
import { respond } from '../../workflow/nodes/respond.ts';
import type { NodeSpec } from '../../workflow/types.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

export const OUTCOME = 'Oncehook-Outcome';
const JSON_TYPE = 'application/json; charset=utf-8';
const UNAVAILABLE = '{"ok":false,"error":"unavailable"}';
/** Seconds until a sender may try again that got a 503 from the workflow itself. */
const RETRY_AFTER = 30;
/**
 * The answer to a new event. What is the same for every such event is plain text, for each expression costs
 * time. In `after-success` the answer comes behind "Mark success": it is the 503 that makes the sender try
 * again unless the ledger says that this run, and no other, completed the event. `claimedAt` is the node behind
 * which the row of the claim stands, whatever the business nodes made of their items.
 */
export function acknowledge({ ack, answers }: WorkflowSource, claimedAt: string = NODE.isNew): NodeSpec {
  const claim = `$('${claimedAt}').first(0).json`;
  const [fresh, again] = [answers['new'], answers['reclaimed']];
  const code = fresh?.status === again?.status ? (fresh?.status ?? 200) : undefined;
  const type = fresh?.content_type === again?.content_type ? (fresh?.content_type ?? JSON_TYPE) : undefined;
  if (ack === 'after-claim') {
    return respond({
      code: code ?? '={{ $json.code }}',
      headers: [
        { name: 'Content-Type', value: type ?? '={{ $json.content_type }}' },
        { name: OUTCOME, value: '={{ $json.outcome }}' },
      ],
      body: '={{ $json.answer }}',
    });
  }
  const ifDone = (done: string, otherwise: string) =>
    `={{ $json.status === 'success' ? ${done} : ${otherwise} }}`;
  return respond({
    code: ifDone(code === undefined ? `${claim}.code` : `${code}`, '503'),
    headers: [
      {
        name: 'Content-Type',
        value: type === JSON_TYPE ? JSON_TYPE : ifDone(`${claim}.content_type`, `'${JSON_TYPE}'`),
      },
      { name: OUTCOME, value: ifDone(`${claim}.outcome`, `'unavailable'`) },
      // Names the outcome once more where there is nothing to wait for: n8n cannot leave a header out.
      { name: ifDone(`'${OUTCOME}'`, `'Retry-After'`), value: ifDone(`${claim}.outcome`, `${RETRY_AFTER}`) },
    ],
    body: ifDone(`${claim}.answer`, `'${UNAVAILABLE}'`),
  });
}

/** A field of what the whole request is answered, on a row of several events; a replay's row is of one. */
export function requestField(name: string, row = '$json'): string {
  return `${row}.request_${name} ?? ${row}.${name}`;
}

/**
 * The answer to everything that is not a new event. It fails closed: an item that is no row of the ledger
 * (a node switched off, a credential missing) is a 503.
 */
export function answerByOutcome({ answers, rules, providerFile }: WorkflowSource): NodeSpec {
  const field = (name: string) => (shapeOf(rules) === 'items' ? requestField(name) : `$json.${name}`);
  const { new: _, reclaimed: __, ...others } = answers;
  const { handshakes, questions } = providerFile;
  const typed = [
    ...Object.values(others),
    ...handshakes.map(({ answer }) => answer),
    ...questions.map(({ refuse }) => refuse),
  ].some(({ content_type }) => content_type !== undefined && content_type !== JSON_TYPE);
  return respond({
    code: `={{ ${field('code')} ?? 503 }}`,
    headers: [
      {
        name: 'Content-Type',
        value: typed ? `={{ ${field('content_type')} ?? '${JSON_TYPE}' }}` : JSON_TYPE,
      },
      { name: OUTCOME, value: `={{ ${field('outcome')} ?? 'unavailable' }}` },
      // Means something beside a 503 alone, but n8n cannot leave a header out, and an expression for its name
      // would cost every duplicate a millisecond or two.
      { name: 'Retry-After', value: `${RETRY_AFTER}` },
    ],
    body: `={{ ${field('answer')} ?? '${UNAVAILABLE}' }}`,
  });
}

/**
 * The answer to a question, as the user's nodes give it in `code`, `answer` and `content_type`. Without a text in
 * `answer` it is the refusal, as a whole: half an answer could be taken for a yes.
 */
export function answerQuestion(): NodeSpec {
  const refusal = `$('${NODE.isNew}').first(${IF_FALSE}).json`;
  const decided = `typeof $json.answer === 'string'`;
  const valid = 'Number.isInteger($json.code) && $json.code >= 200 && $json.code <= 599';
  return respond({
    code: `={{ ${decided} && ${valid} ? $json.code : ${refusal}.code }}`,
    headers: [
      {
        name: 'Content-Type',
        value: `={{ ${decided} && $json.content_type ? $json.content_type : ${refusal}.content_type }}`,
      },
      { name: OUTCOME, value: 'question' },
    ],
    body: `={{ ${decided} ? $json.answer : ${refusal}.answer }}`,
  });
}

/** The answer where a node of the gate failed: no expression, so that it cannot fail as well. */
export function unavailable(): NodeSpec {
  return respond({
    code: 503,
    headers: [
      { name: 'Content-Type', value: JSON_TYPE },
      { name: OUTCOME, value: 'unavailable' },
      { name: 'Retry-After', value: `${RETRY_AFTER}` },
    ],
    body: UNAVAILABLE,
  });
}
