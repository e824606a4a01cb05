import type { NodeSpec } from '../types.ts';

/** The outputs of an IF node. */
export const IF_TRUE = 0;
export const IF_FALSE = 1;

/** An IF node that asks one boolean expression, e.g. `={{ $json.a === 'b' }}`; anything but true goes to the false output. */
export function ifTrue(expression: string, conditionId: string): NodeSpec {
  return {
    type: 'n8n-nodes-base.if',
    typeVersion: 2.2,
    outputs: 2,
    parameters: {
      conditions: {
        options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
        conditions: [
          {
            id: conditionId,
            leftValue: expression,
            rightValue: '',
            operator: { type: 'boolean', operation: 'true', singleValue: true },
          },
        ],
        combinator: 'and',
      },
      options: {},
    },
  };
}
