-- Bodies: from the exact bytes to something that can be read. Nothing here may raise.

-- Text of any bytes. Where they are not UTF-8, every ASCII byte keeps its meaning and the others are
-- shown as Latin-1; NUL, which no text can hold, becomes a blank.
CREATE FUNCTION oncehook.body_text(body bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN convert_from(body, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  IF position('\x00'::bytea IN body) > 0 THEN
    -- Byte by byte in hexadecimal, so that the pair 00 is met only where it is a byte.
    body := decode(replace(regexp_replace(encode(body, 'hex'), '(..)', '\1 ', 'g'), '00 ', '20 '), 'hex');
  END IF;
  RETURN convert_from(body, 'LATIN1');
END $f$;

-- JSON text that jsonb refuses, as JSON text that it takes: no byte order mark, and U+FFFD in place of
-- \u0000 and of surrogates that stand alone.
CREATE FUNCTION oncehook.mend_json(json_text text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$
  SELECT pg_catalog.replace(
    pg_catalog.regexp_replace(
      pg_catalog.regexp_replace(
        -- An escaped backslash steps aside first (a raw U+0001 cannot stand in valid JSON).
        pg_catalog.replace(pg_catalog.replace(pg_catalog.ltrim(json_text, U&'\FEFF'), '\\', E'\x01'), '\u0000', '\ufffd'),
        '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', '\\ufffd', 'g'),
      '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', '\\ufffd', 'g'),
    E'\x01', '\\')
$f$;

-- application/x-www-form-urlencoded: `+` is a blank, %XX a byte of UTF-8; a broken escape stays as it is.
CREATE FUNCTION oncehook.url_decode(encoded text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  plain text := replace(encoded, '+', ' ');
BEGIN
  IF strpos(plain, '%') = 0 THEN
    RETURN plain;
  END IF;
  RETURN (
    SELECT oncehook.body_text(string_agg(
      CASE WHEN m[1] ~ '^%[0-9A-Fa-f]{2}' THEN decode(replace(m[1], '%', ''), 'hex') ELSE convert_to(m[1], 'UTF8') END,
      ''::bytea ORDER BY n))
    FROM regexp_matches(plain, '((?:%[0-9A-Fa-f]{2})+|[^%]+|%)', 'g') WITH ORDINALITY AS x (m, n));
END $f$;

-- A form as an object of strings; of equal names the last one counts.
CREATE FUNCTION oncehook.form(body bytea) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
  SELECT coalesce(
    jsonb_object_agg(
      oncehook.url_decode(split_part(pair, '=', 1)),
      oncehook.url_decode(substr(pair, strpos(pair || '=', '=') + 1)) ORDER BY n),
    '{}')
  FROM regexp_split_to_table(oncehook.body_text(body), '&') WITH ORDINALITY AS y (pair, n)
  WHERE pair <> ''
$f$;

CREATE TYPE oncehook.reading AS (
  payload jsonb,   -- for queries and keys; null where jsonb cannot hold the body
  content text,    -- JSON text of what the workflow's business part gets; null for an empty body
  mended boolean   -- true where characters had to be replaced: an id that holds a replacement is none
);

-- What a body says, whatever it is. Order of attempts: form by content type; JSON; JSON mended; JSON
-- that only the type json can hold (numbers beyond numeric's range); anything else is one string.
CREATE FUNCTION oncehook.read_body(body bytea, content_type text) RETURNS oncehook.reading
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r oncehook.reading;
  t text;
BEGIN
  r.mended := false;
  IF octet_length(coalesce(body, '')) = 0 THEN
    RETURN r;
  END IF;
  IF lower(content_type) LIKE 'application/x-www-form-urlencoded%' THEN
    r.payload := oncehook.form(body);
    r.content := r.payload::text;
    RETURN r;
  END IF;
  BEGIN
    r.content := convert_from(body, 'UTF8');
    r.payload := r.content::jsonb;
    RETURN r;
  EXCEPTION WHEN OTHERS THEN
    r.mended := true;
  END;
  t := oncehook.body_text(body);
  BEGIN
    r.content := oncehook.mend_json(t);
    r.payload := r.content::jsonb;
    RETURN r;
  EXCEPTION WHEN OTHERS THEN
    r.payload := NULL;
  END;
  BEGIN
    PERFORM r.content::json;
    RETURN r;
  EXCEPTION WHEN OTHERS THEN
    r.content := to_json(t)::text;
    RETURN r;
  END;
END $f$;

-- A JSON object out of text that n8n made from what a sender sent (headers, query): never raises.
CREATE FUNCTION oncehook.read_object(json_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v jsonb;
BEGIN
  v := oncehook.mend_json(json_text)::jsonb;
  RETURN CASE WHEN jsonb_typeof(v) = 'object' THEN v ELSE '{}' END;
EXCEPTION WHEN OTHERS THEN
  RETURN '{}';
END $f$;

-- Base64 as n8n's Extract From File writes it; null where it is not.
CREATE FUNCTION oncehook.read_base64(encoded text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN decode(encoded, 'base64');
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $f$;
