-- Oncehook: one delivery in, one row out. The unique idempotency_key decides, not n8n.
INSERT INTO oncehook.webhook_events AS e (
  idempotency_key, source, event_type, external_id, object_id, content_type, headers, query, body, body_sha256, payload,
  claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance)
-- exact bytes, signature, key; no row where there is nothing to claim
SELECT d.*, $7, $8, $9 FROM oncehook.receive($1, $2, $3, $4, $5, $6) AS d WHERE d.key IS NOT NULL
ON CONFLICT (idempotency_key) DO UPDATE
  -- taken over only after a failure or a lapsed lease, under a new token
  SET status = 'processing', attempts = e.attempts + 1, claim_hash = excluded.claim_hash,
    locked_until = excluded.locked_until, workflow = $7, execution_id = $8, instance = $9
  WHERE e.locked_until < now();

-- new / reclaimed: this run holds the event. duplicate, mismatch, unkeyed, rejected: it does not.
SELECT * FROM oncehook.report()
