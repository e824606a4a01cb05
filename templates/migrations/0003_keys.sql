-- Keys. One place makes them: here, from the exact bytes.

-- A recipe's plan held against a delivery: the value of the first alternative whose every placeholder
-- finds a non-empty string or number; null where none does. In a composite, `\` and `:` inside a value
-- are escaped, so that the parts a:b + c and a + b:c never make one key.
-- `doc` stands in for `payload` where jsonb cannot hold the body. Where a delivery was read with `damage`, a
-- value that the damage may have changed is no id: two ids could have become one.
CREATE FUNCTION oncehook.evaluate(plan jsonb, headers jsonb, query jsonb, payload jsonb, doc json, body_sha256 bytea, damage text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  parts jsonb;
  part jsonb;
  origin text;
  path text[];
  found_at jsonb;
  v text;
  result text;
  composite boolean;
BEGIN
  FOR i IN 0 .. jsonb_array_length(plan) - 1 LOOP
    parts := plan -> i;
    composite := jsonb_array_length(parts) > 1;
    result := '';
    FOR j IN 0 .. jsonb_array_length(parts) - 1 LOOP
      part := parts -> j;
      origin := part ->> 'from';
      v := NULL;
      IF origin = 'body' THEN
        path := part ->> 'path';
        IF payload IS NOT NULL THEN
          found_at := payload #> path;
          IF jsonb_typeof(found_at) IN ('string', 'number') THEN
            v := found_at #>> '{}';
          END IF;
        ELSIF doc IS NOT NULL AND json_typeof(doc #> path) IN ('string', 'number') THEN
          v := doc #>> path;
        END IF;
      ELSIF origin IS NULL THEN
        result := result || (part ->> 'literal');
        CONTINUE;
      ELSIF origin = 'body_sha256' THEN
        v := encode(body_sha256, 'hex');
      ELSE
        path := part ->> 'path';
        found_at := CASE origin WHEN 'header' THEN headers ELSE query END -> path[1];
        IF jsonb_typeof(found_at) IN ('string', 'number') THEN
          v := found_at #>> '{}';
        END IF;
      END IF;
      IF v IS NULL OR v = '' OR (damage IS NOT NULL AND strpos(v, U&'\FFFD') > 0)
        OR (damage = 'bytes' AND origin = 'body' AND octet_length(v) <> length(v)) THEN
        result := NULL;
        EXIT;
      END IF;
      result := result || CASE WHEN composite THEN replace(replace(v, '\', '\\'), ':', '\:') ELSE v END;
    END LOOP;
    IF result IS NOT NULL THEN
      RETURN result;
    END IF;
  END LOOP;
  RETURN NULL;
END $f$;

-- The idempotency key of a recipe's value: `<source>:<value>`, or `<source>:sha256:<hex>` where the
-- source wants no ids in the table, where the key would not fit an index (512 bytes), or where a value
-- would pass for such a hash. Runs on n8n's test URL have a key space of their own.
-- (PL/pgSQL: convert_to is not immutable, so an SQL function could not be inlined and would cost ten times as much.)
CREATE FUNCTION oncehook.idempotency_key(source text, value text, key_format text, production boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN CASE WHEN production THEN '' ELSE 'test/' END || source || ':' ||
    CASE WHEN key_format = 'sha256' OR pg_catalog.octet_length(value) > 450 OR value LIKE 'sha256:%'
      THEN 'sha256:' || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(value, 'UTF8')), 'hex')
      ELSE value END;
END $f$;
