-- Oncehook: the object that was fetched, one row out. The unique idempotency_key decides, not n8n.
INSERT INTO oncehook.webhook_events AS e (
  idempotency_key, source, event_type, external_id, object_id, content_type, headers, query, body, body_sha256, payload,
  claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance)
-- the key of what was fetched; no row where the delivery is another run's, or its event taken
SELECT d.*, $6, $7, $8 FROM oncehook.receive_fetched($1, $2, $3, $4, $5) AS d WHERE d.key IS NOT NULL
ON CONFLICT (idempotency_key) DO UPDATE
  -- taken over only after a failure or a lapsed lease, under a new token
  SET status = 'processing', attempts = e.attempts + 1, claim_hash = excluded.claim_hash, claimed_at = now(),
    locked_until = excluded.locked_until, next_attempt_at = excluded.locked_until,
    workflow = $6, execution_id = $7, instance = $8
  WHERE e.locked_until < now();

-- new / reclaimed: this run holds the event, and the delivery is done. duplicate, mismatch, unkeyed: only the latter.
SELECT * FROM oncehook.report_fetched()
