import type { NodeSpec } from '../types.ts';

/**
 * An Extract From File node that turns the binary field `data` into base64 text under `data` and keeps the
 * item's JSON. An item without binary data passes as `{error}`.
 *
 * The encoding is named although base64 needs none: without it n8n guesses one from the whole body, half a
 * millisecond for 2 kB and a second for 5 MB.
 */
export function extractBase64(): NodeSpec {
  return {
    type: 'n8n-nodes-base.extractFromFile',
    typeVersion: 1,
    outputs: 1,
    parameters: {
      operation: 'binaryToPropery',
      binaryPropertyName: 'data',
      destinationKey: 'data',
      options: { encoding: 'utf8', keepSource: 'json' },
    },
    onError: 'continueRegularOutput',
  };
}
