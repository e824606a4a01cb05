-- What may have happened in the ledger since the last look, as one row of JSON arrays. $1: the highest event id that
-- was seen, $2: ids of events that were not final then, $3: the highest id of the audit, $4: of the dead letters;
-- null at the first look. A transaction may commit after one with a higher id, so each look goes back a little; the
-- caller knows what it saw.
SELECT
  coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'id', e.id::text, 'source', e.source, 'type', e.event_type, 'key', e.idempotency_key, 'status', e.status,
      'attempts', e.attempts, 'replays', e.replays, 'overruns', e.overruns, 'error', e.error,
      'lapsed', e.status = 'processing' AND e.locked_until < now()) ORDER BY e.claimed_at, e.id)
    FROM oncehook.webhook_events e
    WHERE e.id > coalesce($1::bigint, (SELECT max(id) FROM oncehook.webhook_events)) - 100 OR e.id = ANY ($2::bigint[]) OR e.next_attempt_at IS NOT NULL), '[]') AS events,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'id', d.id::text, 'source', d.source, 'outcome', d.outcome, 'type', e.event_type, 'key', e.idempotency_key) ORDER BY d.id)
    FROM oncehook.webhook_duplicates d LEFT JOIN oncehook.webhook_events e ON e.id = d.event_id
    WHERE d.id > coalesce($3::bigint, (SELECT max(id) FROM oncehook.webhook_duplicates)) - 100), '[]') AS duplicates,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('source', r.source, 'reason', r.reason, 'count', r.count) ORDER BY r.source, r.reason)
    FROM (SELECT source, reason, sum(count)::bigint AS count FROM oncehook.webhook_rejections
          WHERE hour > now() - interval '2 hours' GROUP BY source, reason) r), '[]') AS rejections,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'id', q.id::text, 'source', q.source, 'kind', q.kind, 'reason', q.reason, 'key', q.idempotency_key,
      'deliveries', q.deliveries) ORDER BY q.id)
    FROM oncehook.webhook_dead_letters q
    WHERE q.id > coalesce($4::bigint, (SELECT max(id) FROM oncehook.webhook_dead_letters)) - 100 OR q.last_seen_at > now() - interval '1 minute'), '[]') AS dead_letters
