-- Stores a secret ($1 source, $2 name, $3 its bytes under the transaction's pad) unless the source has it, under
-- whatever name; one that was retired is taken back. No row where the name stands for another secret.
WITH given AS (
  SELECT decode(string_agg(lpad(to_hex(get_byte($3::bytea, i) # get_byte(pad, i)), 2, '0'), '' ORDER BY i), 'hex') AS secret
  FROM (SELECT decode(current_setting('oncehook.pad'), 'hex') AS pad) p, generate_series(0, octet_length($3::bytea) - 1) AS i
), known AS (
  UPDATE oncehook.webhook_secrets s SET retired_at = NULL
  FROM (SELECT k.name, k.retired_at FROM oncehook.webhook_secrets k, given
        WHERE k.source_id = $1 AND k.secret = given.secret
        ORDER BY k.retired_at NULLS FIRST, k.created_at LIMIT 1) AS old
  WHERE s.source_id = $1 AND s.name = old.name
  RETURNING s.name, CASE WHEN old.retired_at IS NULL THEN 'kept' ELSE 'taken back' END AS change
), added AS (
  INSERT INTO oncehook.webhook_secrets (source_id, name, secret)
  SELECT $1, $2, given.secret FROM given WHERE NOT EXISTS (SELECT FROM known)
  ON CONFLICT (source_id, name) DO NOTHING
  RETURNING name, 'added' AS change
)
SELECT * FROM known UNION ALL SELECT * FROM added;
