/**
 * The names of the nodes. Expressions and the ledger refer to some of them: `New event?` is where "Mark success"
 * finds the claim (`Each event` and `New object?` in sources of these kinds), and a run that failed in `Mark success` has done its work.
 */
export const NODE = {
  webhook: 'Webhook',
  rawBody: 'Raw body',
  getRequest: 'GET request',
  key: 'Idempotency key',
  claim: 'Claim event',
  isNew: 'New event?',
  acknowledge: 'Acknowledge',
  answer: 'Answer',
  isQuestion: 'Question?',
  decision: 'Your decision',
  answerQuestion: 'Answer question',
  unavailable: 'Unavailable',
  business: 'Your business logic',
  markSuccess: 'Mark success',
  onlyNew: 'Only new events',
  each: 'Each event',
  stillOurs: 'Still ours?',
  toFetch: 'To be fetched?',
  fetch: 'Fetch object',
  objectBytes: 'Object bytes',
  claimObject: 'Claim object',
  isNewObject: 'New object?',
  replay: 'Replay',
  claimReplay: 'Claim replay',
  onFailure: 'On failure',
  markFailed: 'Mark failed',
} as const;

/** The names of the sticky notes. */
export const NOTE = {
  setUp: 'Set up',
  gate: 'The gate',
  object: 'The object',
  business: 'Your part',
  decision: 'Your decision note',
  answer: 'Other answers',
  replay: 'Replay note',
  failure: 'Failure note',
} as const;
