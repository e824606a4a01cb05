import { Bug } from '../../errors.ts';
import type { NodeSpec } from '../types.ts';

/** Plain text fields of an Edit Fields node. */
export interface SetOptions {
  fields: { id: string; name: string; value: string }[];
  /** The fields of the incoming item that pass on. */
  keep: string[];
}

/** Fields of an Edit Fields node that may be expressions. */
export interface FieldOptions {
  fields: { id: string; name: string; type: 'string' | 'number'; value: string | number }[];
  /** The fields of the incoming item that pass on. */
  keep: string[];
}

/** An Edit Fields (Set) node that adds plain text and passes the named fields on. Throws a Bug for an expression. */
export function setText({ fields, keep }: SetOptions): NodeSpec {
  for (const { name, value } of fields) {
    if (value.startsWith('=')) {
      throw new Bug(`The field ${name} of a Set node would be evaluated: its text begins with "="`);
    }
  }
  return setFields({ fields: fields.map((field) => ({ ...field, type: 'string' as const })), keep });
}

/** An Edit Fields (Set) node that adds fields and passes the named ones on. */
export function setFields({ fields, keep }: FieldOptions): NodeSpec {
  return {
    type: 'n8n-nodes-base.set',
    typeVersion: 3.4,
    outputs: 1,
    parameters: {
      mode: 'manual',
      assignments: { assignments: fields.map(({ id, name, type, value }) => ({ id, name, value, type })) },
      includeOtherFields: true,
      include: 'selected',
      includeFields: keep.join(', '),
      options: {},
    },
  };
}
