-- Oncehook: keeps one delivery until its object is fetched: under a key of its own, as an event that is due until then.
INSERT INTO oncehook.webhook_events AS e (
  idempotency_key, source, event_type, external_id, object_id, content_type, headers, query, body, body_sha256, payload,
  claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance)
-- exact bytes, signature, the id to fetch by; no row where there is nothing to fetch
SELECT d.*, $7, $8, $9 FROM oncehook.receive_delivery($1, $2, $3, $4, $5, $6) AS d WHERE d.key IS NOT NULL
ON CONFLICT (idempotency_key) DO NOTHING;

-- new: this run holds the delivery. unkeyed, rejected: there is nothing to fetch.
SELECT * FROM oncehook.report_delivery()
