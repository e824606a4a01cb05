-- Oncehook: one request of several events in, a row for each of them out. The unique idempotency_key decides, not n8n.
INSERT INTO oncehook.webhook_events AS e (
  idempotency_key, source, event_type, external_id, object_id, content_type, headers, query, body, body_sha256, payload,
  item, claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance)
-- exact bytes, signature, keys; no row where there is nothing to claim. In the order of the keys, and each key once
SELECT d.*, $7, $8, $9 FROM oncehook.receive_items($1, $2, $3, $4, $5, $6) AS d
ON CONFLICT (idempotency_key) DO UPDATE
  -- taken over only after a failure or a lapsed lease, under a new token
  SET status = 'processing', attempts = e.attempts + 1, claim_hash = excluded.claim_hash, claimed_at = now(),
    locked_until = excluded.locked_until, next_attempt_at = excluded.locked_until, item = excluded.item,
    workflow = $7, execution_id = $8, instance = $9
  WHERE e.locked_until < now();

-- new / reclaimed: this run holds that event. duplicate, mismatch, unkeyed, rejected: it does not.
SELECT * FROM oncehook.report_items()
