import { respond } from '../../workflow/nodes/respond.ts';
import type { NodeSpec } from '../../workflow/types.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

const OUTCOME = 'Oncehook-Outcome';
const JSON_TYPE = 'application/json; charset=utf-8';
const UNAVAILABLE = '{"ok":false,"error":"unavailable"}';
/** Seconds until a sender may try again that got a 503 from the workflow itself. */
const RETRY_AFTER = 30;
/** The row of the claim, seen from behind the business nodes, whatever those made of their items. */
const CLAIM = `$('${NODE.isNew}').first(0).json`;

/**
 * The answer to a new event. What is the same for every such event is plain text, for each expression costs
 * time. In `after-success` the answer comes behind "Mark success": it is the 503 that makes the sender try
 * again unless the ledger says that this run, and no other, completed the event.
 */
export function acknowledge({ ack, answers }: WorkflowSource): NodeSpec {
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
    code: ifDone(code === undefined ? `${CLAIM}.code` : `${code}`, '503'),
    headers: [
      {
        name: 'Content-Type',
        value: type === JSON_TYPE ? JSON_TYPE : ifDone(`${CLAIM}.content_type`, `'${JSON_TYPE}'`),
      },
      { name: OUTCOME, value: ifDone(`${CLAIM}.outcome`, `'unavailable'`) },
      // Names the outcome once more where there is nothing to wait for: n8n cannot leave a header out.
      { name: ifDone(`'${OUTCOME}'`, `'Retry-After'`), value: ifDone(`${CLAIM}.outcome`, `${RETRY_AFTER}`) },
    ],
    body: ifDone(`${CLAIM}.answer`, `'${UNAVAILABLE}'`),
  });
}

/**
 * The answer to everything that is not a new event. It fails closed: an item that is no row of the ledger
 * (a node switched off, a credential missing) is a 503.
 */
export function answerByOutcome({ answers }: WorkflowSource): NodeSpec {
  const others = Object.entries(answers).filter(([outcome]) => outcome !== 'new' && outcome !== 'reclaimed');
  const typed = others.some(
    ([, { content_type }]) => content_type !== undefined && content_type !== JSON_TYPE,
  );
  return respond({
    code: '={{ $json.code ?? 503 }}',
    headers: [
      { name: 'Content-Type', value: typed ? `={{ $json.content_type ?? '${JSON_TYPE}' }}` : JSON_TYPE },
      { name: OUTCOME, value: `={{ $json.outcome ?? 'unavailable' }}` },
      // Means something beside a 503 alone, but n8n cannot leave a header out, and an expression for its name
      // would cost every duplicate a millisecond or two.
      { name: 'Retry-After', value: `${RETRY_AFTER}` },
    ],
    body: `={{ $json.answer ?? '${UNAVAILABLE}' }}`,
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
