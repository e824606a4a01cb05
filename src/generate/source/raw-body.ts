import type { WorkflowBuilder } from '../../workflow/builder.ts';
import { extractBase64 } from '../../workflow/nodes/extract-from-file.ts';
import { setFields } from '../../workflow/nodes/set.ts';
import { marker } from '../marker.ts';
import { NODE } from './names.ts';
import type { WorkflowSource } from './types.ts';

/**
 * The fields that n8n has read, nested or not, as one urlencoded text in base64. Nothing of it is the sender's own
 * bytes: only a signature over the fields can be checked by it.
 */
const FIELDS_AS_TEXT =
  `((write) => write(write, $json.body ?? {}, '').join('&').base64Encode())` +
  `((write, value, name) => value !== null && typeof value === 'object' ` +
  `? Object.entries(value).flatMap(([key, below]) => write(write, below, name === '' ? key : name + '[' + key + ']')) ` +
  `: [encodeURIComponent(name) + '=' + encodeURIComponent(value)])`;

/** The node that hands on what was sent. Of a multipart form n8n keeps no bytes, so that its fields stand for them. */
export function addRawBody(builder: WorkflowBuilder, { providerFile }: WorkflowSource): void {
  if (providerFile.content_type !== 'multipart/form-data') {
    builder.add(
      NODE.rawBody,
      'raw-body',
      extractBase64(),
      marker('raw-body', 'Turns the exact bytes into text that the next nodes can carry.'),
    );
    return;
  }
  const node = setFields({
    fields: [
      {
        id: builder.ids.of('raw-body/data'),
        name: 'data',
        type: 'string',
        value: `={{ ${FIELDS_AS_TEXT} }}`,
      },
    ],
    keep: ['headers', 'query', 'executionMode'],
  });
  builder.add(
    NODE.rawBody,
    'raw-body',
    { ...node, onError: 'continueRegularOutput' },
    marker('raw-body', 'Writes the fields of the form as text that the next nodes can carry.'),
  );
}
