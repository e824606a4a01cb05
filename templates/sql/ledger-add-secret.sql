-- Stores a secret ($1 source, $2 name, $3 bytes) unless the source has it, under whatever name; one that was
-- retired is taken back. No row where the name stands for another secret.
WITH known AS (
  UPDATE oncehook.webhook_secrets s SET retired_at = NULL
  FROM (SELECT k.name, k.retired_at FROM oncehook.webhook_secrets k
        WHERE k.source_id = $1 AND k.secret = $3
        ORDER BY k.retired_at NULLS FIRST, k.created_at LIMIT 1) AS old
  WHERE s.source_id = $1 AND s.name = old.name
  RETURNING s.name, CASE WHEN old.retired_at IS NULL THEN 'kept' ELSE 'taken back' END AS change
), added AS (
  INSERT INTO oncehook.webhook_secrets (source_id, name, secret)
  SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM known)
  ON CONFLICT (source_id, name) DO NOTHING
  RETURNING name, 'added' AS change
)
SELECT * FROM known UNION ALL SELECT * FROM added;
