-- Views for people and for monitoring. n8n's role reads none of them.

-- The ledger without bodies: how often each event came, and whether its lease holds.
CREATE VIEW oncehook.webhook_ledger AS
SELECT e.id, e.idempotency_key, e.source, e.event_type, e.external_id, e.object_id,
  CASE WHEN e.status = 'processing' AND e.locked_until < now() THEN 'lapsed' ELSE e.status END AS status,
  e.attempts, e.attempts - e.replays + coalesce(d.deliveries, 0) AS deliveries, coalesce(d.mismatches, 0) AS mismatches, e.overruns,
  e.first_seen_at, greatest(e.claimed_at, d.last_seen_at) AS last_seen_at, e.claimed_at, e.locked_until, e.next_attempt_at,
  e.processed_at, e.workflow, e.execution_id, e.error
FROM oncehook.webhook_events e
LEFT JOIN LATERAL (
  SELECT count(*) AS deliveries, count(*) FILTER (WHERE w.outcome = 'mismatch') AS mismatches, max(w.received_at) AS last_seen_at
  FROM oncehook.webhook_duplicates w WHERE w.event_id = e.id
) d ON true;

-- Prometheus: one row a sample. Counters are what the tables hold plus what retention has taken out.
CREATE VIEW oncehook.webhook_metrics AS
WITH counted (source, metric, label, count) AS (
  SELECT source, 'webhook_events_total', '', count(*) FROM oncehook.webhook_events GROUP BY source
  UNION ALL SELECT source, 'webhook_duplicates_total', outcome, count(*) FROM oncehook.webhook_duplicates GROUP BY source, outcome
  UNION ALL SELECT source, 'webhook_rejections_total', reason, sum(count)::bigint FROM oncehook.webhook_rejections GROUP BY source, reason
  UNION ALL SELECT source, 'webhook_dead_letters_total', kind, count(*) FROM oncehook.webhook_dead_letters GROUP BY source, kind
  UNION ALL SELECT source, metric, label, count FROM oncehook.webhook_totals
)
SELECT metric, 'counter' AS type, source, label, sum(count)::double precision AS value FROM counted GROUP BY metric, source, label
UNION ALL
SELECT 'webhook_events', 'gauge', source, status, count(*)::double precision FROM oncehook.webhook_events GROUP BY source, status
UNION ALL
SELECT 'webhook_dead_letters', 'gauge', source, kind, count(*)::double precision
  FROM oncehook.webhook_dead_letters WHERE resolved_at IS NULL GROUP BY source, kind
UNION ALL
SELECT 'webhook_lapsed_claims', 'gauge', source, '', count(*)::double precision
  FROM oncehook.webhook_events WHERE next_attempt_at IS NOT NULL AND status = 'processing' AND locked_until < now() GROUP BY source
UNION ALL
SELECT 'webhook_oldest_unprocessed_seconds', 'gauge', source, '', extract(epoch FROM now() - min(first_seen_at))::double precision
  FROM oncehook.webhook_events WHERE next_attempt_at IS NOT NULL GROUP BY source;
