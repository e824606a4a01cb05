import type { SourceRow } from '../../../src/ledger/sources.ts';

/** A source as the generator would resolve it: HMAC over the body, the key from `id`. */
export function sourceRow(id: string, change: Partial<SourceRow> = {}): SourceRow {
  return {
    id,
    name: id,
    provider: 'custom',
    signature: {
      scheme: 'hmac',
      hash: 'sha256',
      header: 'x-signature',
      encoding: 'hex',
      secret_encoding: 'utf8',
      signed: [[{ from: 'body' }]],
    },
    key: '{body.id}',
    keyFormat: 'plain',
    type: '{body.type}',
    object: null,
    volatile: [],
    toleranceSeconds: null,
    leaseSeconds: 900,
    maxAttempts: 8,
    retentionDays: 90,
    ack: 'after-claim',
    answers: {},
    rules: null,
    ...change,
  };
}
