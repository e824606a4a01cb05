-- The configuration's sources ($1, an array of objects) as rows of webhook_sources: missing ones are added,
-- changed ones updated, those that left are switched off and stay. One row for each source that was touched.
WITH wanted AS (
  SELECT w.id, w.name, w.provider, w.signature, w.key_recipe, w.key_format, w.type_recipe, w.object_recipe, w.volatile,
    w.tolerance_seconds, make_interval(secs => w.lease_seconds) AS lease, w.max_attempts,
    make_interval(days => w.retention_days) AS retention, w.ack, w.answers, w.rules
  FROM jsonb_to_recordset($1::jsonb) AS w (
    id text, name text, provider text, signature jsonb, key_recipe text, key_format text, type_recipe text, object_recipe text,
    volatile jsonb, tolerance_seconds int, lease_seconds int, max_attempts int, retention_days int, ack text, answers jsonb, rules jsonb)
), before AS (
  -- The statement's snapshot: what the other parts write is not in it.
  SELECT s.id, s.active, to_jsonb(s) AS row FROM oncehook.webhook_sources s
), written AS (
  INSERT INTO oncehook.webhook_sources AS s (id, name, provider, signature, key_recipe, key_format, type_recipe, object_recipe,
    volatile, tolerance_seconds, lease, max_attempts, retention, ack, answers, rules)
  SELECT * FROM wanted
  ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, provider = excluded.provider, signature = excluded.signature, key_recipe = excluded.key_recipe,
    key_format = excluded.key_format, type_recipe = excluded.type_recipe, object_recipe = excluded.object_recipe,
    volatile = excluded.volatile, tolerance_seconds = excluded.tolerance_seconds, lease = excluded.lease,
    max_attempts = excluded.max_attempts, retention = excluded.retention, ack = excluded.ack, answers = excluded.answers,
    rules = excluded.rules,
    active = true, updated_at = now()
  WHERE (s.name, s.provider, s.signature, s.key_recipe, s.key_format, s.type_recipe, s.object_recipe, s.volatile,
      s.tolerance_seconds, s.lease, s.max_attempts, s.retention, s.ack, s.answers, s.rules, s.active)
    IS DISTINCT FROM (excluded.name, excluded.provider, excluded.signature, excluded.key_recipe, excluded.key_format,
      excluded.type_recipe, excluded.object_recipe, excluded.volatile, excluded.tolerance_seconds, excluded.lease,
      excluded.max_attempts, excluded.retention, excluded.ack, excluded.answers, excluded.rules, true)
  RETURNING s.id, to_jsonb(s) AS row
), switched_off AS (
  UPDATE oncehook.webhook_sources s SET active = false, updated_at = now()
  WHERE s.active AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = s.id)
  RETURNING s.id
)
SELECT w.id,
  CASE WHEN b.id IS NULL THEN 'added' WHEN NOT b.active THEN 'switched on' ELSE 'updated' END AS change,
  ARRAY(
    SELECT n.key FROM jsonb_each(w.row) n
    WHERE n.value IS DISTINCT FROM b.row -> n.key AND n.key NOT IN ('updated_at', 'created_at', 'active') AND n.key !~ '_(plan|pads)$'
    ORDER BY n.key
  ) AS fields
FROM written w LEFT JOIN before b USING (id)
UNION ALL
SELECT o.id, 'switched off', '{}' FROM switched_off o
ORDER BY id;
