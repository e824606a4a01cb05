-- Oncehook: one delivery in, one row out. The unique idempotency_key decides, not n8n.
-- new / reclaimed: this run holds the event. duplicate, mismatch, unkeyed, rejected: it does not.
WITH delivery AS MATERIALIZED (
  -- exact bytes, signature, key
  SELECT oncehook.receive($1::text, $2::text, $3::text, $4::text, $5::text, $6::text) AS d
), claimed AS (
  INSERT INTO oncehook.webhook_events AS e (
    idempotency_key, source, event_type, external_id, object_id, content_type, headers, query, body, body_sha256, payload,
    claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance)
  SELECT (d).key, (d).source, (d).event_type, (d).external_id, (d).object_id, (d).content_type, (d).headers, (d).query,
    (d).body, (d).body_sha256, (d).payload,
    (d).claim_hash, (d).locked_until, (d).locked_until, $7::text, $8::text, $9::text
  FROM delivery WHERE (d).refused IS NULL
  ON CONFLICT (idempotency_key) DO UPDATE
    -- taken over only after a failure or a lapsed lease, under a new token
    SET status = 'processing', attempts = e.attempts + 1, claim_hash = excluded.claim_hash, claimed_at = now(),
      locked_until = excluded.locked_until, next_attempt_at = excluded.locked_until,
      workflow = $7::text, execution_id = $8::text, instance = $9::text
    WHERE e.locked_until < now()
  RETURNING id, attempts
)
SELECT * FROM oncehook.report((SELECT d FROM delivery), (SELECT id FROM claimed), (SELECT attempts FROM claimed))
