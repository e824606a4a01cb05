-- How each source is doing: one row a source, as JSON. $1 is how many of its events to show: those that are not done first.
SELECT jsonb_build_object(
  'id', s.id, 'name', s.name, 'provider', s.provider, 'active', s.active, 'ack', s.ack,
  'liveSecrets', (SELECT count(*) FROM oncehook.webhook_secrets k WHERE k.source_id = s.id AND k.retired_at IS NULL),
  'events', coalesce((
    SELECT jsonb_object_agg(e.status, e.count)
    FROM (SELECT status, count(*) AS count FROM oncehook.webhook_events WHERE source = s.id GROUP BY status) e), '{}'),
  'lapsed', (SELECT count(*) FROM oncehook.webhook_events e
             WHERE e.source = s.id AND e.next_attempt_at IS NOT NULL AND e.status = 'processing' AND e.locked_until < now()),
  'overruns', (SELECT coalesce(sum(e.overruns), 0) FROM oncehook.webhook_events e WHERE e.source = s.id),
  'duplicates', (SELECT count(*) FILTER (WHERE d.outcome = 'duplicate') FROM oncehook.webhook_duplicates d WHERE d.source = s.id),
  'mismatches', (SELECT count(*) FILTER (WHERE d.outcome = 'mismatch') FROM oncehook.webhook_duplicates d WHERE d.source = s.id),
  'rejections', coalesce((
    SELECT jsonb_object_agg(r.reason, r.count)
    FROM (SELECT reason, sum(count) AS count FROM oncehook.webhook_rejections
          WHERE source = s.id AND hour > now() - interval '25 hours' GROUP BY reason) r), '{}'),
  'deadLetters', (SELECT count(*) FROM oncehook.webhook_dead_letters d WHERE d.source = s.id AND d.resolved_at IS NULL),
  'lastEvents', coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'id', e.id::text, 'key', e.idempotency_key, 'type', e.event_type, 'status', e.status, 'attempts', e.attempts,
      'deliveries', e.deliveries, 'firstSeenAt', e.first_seen_at, 'processedAt', e.processed_at, 'error', e.error) ORDER BY e.done, e.id DESC)
    FROM (
      SELECT l.*, shown.done FROM (
        (SELECT id, false AS done FROM oncehook.webhook_events WHERE source = s.id AND status <> 'success' ORDER BY id DESC LIMIT $1)
        UNION ALL
        (SELECT id, true FROM oncehook.webhook_events WHERE source = s.id AND status = 'success' ORDER BY id DESC LIMIT $1)
        ORDER BY done, id DESC LIMIT $1
      ) shown
      JOIN oncehook.webhook_ledger l USING (id)
    ) e), '[]')
) AS source
FROM oncehook.webhook_sources s
ORDER BY s.id;
