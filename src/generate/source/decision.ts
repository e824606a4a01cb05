import { type CompiledAnswer, compileOne } from '../../providers/compile-exchange.ts';
import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { IF_FALSE, IF_TRUE, ifTrue } from '../../workflow/nodes/if.ts';
import { setFields } from '../../workflow/nodes/set.ts';
import type { NodeSpec } from '../../workflow/types.ts';
import { marker } from '../marker.ts';
import { answerQuestion } from './answers.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

/**
 * The branch in which nodes of the user answer a question. Behind it on the canvas, and so after it, the refusal is
 * answered once more: it counts where those nodes led nowhere, for n8n's own answer would be an empty 200.
 */
export function addDecision(builder: WorkflowBuilder, source: WorkflowSource): void {
  const { ids } = builder;
  builder.add(
    NODE.isQuestion,
    'is-question',
    ifTrue(`={{ $json.outcome === 'question' }}`, ids.of('is-question/condition')),
    marker('is-question', 'Leads requests that ask for a decision to your nodes.'),
  );
  builder.add(
    NODE.decision,
    'decision',
    refusal(source, (field) => ids.of(`decision/${field}`)),
    marker('decision', 'Refuses: put your own nodes in its place.'),
  );
  builder.add(
    NODE.answerQuestion,
    'answer-question',
    answerQuestion(),
    marker('answer-question', 'Answers as your nodes have decided, or else refuses.'),
  );
  builder.connect(NODE.isNew, NODE.isQuestion, IF_FALSE);
  builder.connect(NODE.isQuestion, NODE.decision, IF_TRUE);
  builder.connect(NODE.decision, NODE.answerQuestion);
  builder.connect(NODE.isQuestion, NODE.answer, IF_TRUE);
  builder.connect(NODE.isQuestion, NODE.answer, IF_FALSE);
}

/** The example: the answer that says no, as text to be changed where it is one text. */
function refusal({ providerFile }: WorkflowSource, id: (field: string) => string): NodeSpec {
  const [first, ...rest] = providerFile.questions.map(({ refuse }) => compileOne(refuse));
  const text = first && rest.every((other) => same(first, other)) ? first.body : undefined;
  const plain = text !== undefined && !text.startsWith('=');
  return setFields({
    fields: [
      {
        id: id('code'),
        name: 'code',
        type: 'number',
        value: plain ? (first?.status ?? 200) : '={{ $json.code }}',
      },
      { id: id('answer'), name: 'answer', type: 'string', value: plain ? text : '={{ $json.answer }}' },
    ],
    keep: ['reason', 'body', 'headers', 'query', 'content_type'],
  });
}

function same(one: CompiledAnswer, other: CompiledAnswer): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
