-- A one-time pad of $1 times 32 bytes, for the transaction and for whoever asked. A server may log statements and
-- their parameters, but no results: what is masked by the pad stands in no log.
SELECT set_config('oncehook.pad', string_agg(block, ''), true) AS pad
FROM (
  SELECT encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex') AS block
  FROM generate_series(1, $1)
) blocks;
