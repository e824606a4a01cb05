-- Bodies: from the exact bytes to something that can be read. Nothing here may raise.

-- Text of any bytes. Where they are not UTF-8, every ASCII byte keeps its meaning and the others are
-- shown as Latin-1; NUL, which no text can hold, becomes U+001A, which no JSON text can hold.
CREATE FUNCTION oncehook.body_text(body bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN convert_from(body, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  IF position('\x00'::bytea IN body) > 0 THEN
    -- Once a backslash is written as \134, too, every \000 is a NUL.
    body := decode(replace(replace(encode(body, 'escape'), '\\', '\134'), '\000', E'\x1a'), 'escape');
  END IF;
  RETURN convert_from(body, 'LATIN1');
END $f$;

-- JSON text that jsonb refuses, as JSON text that it takes: no byte order mark, and U+FFFD in place of
-- \u0000 and of surrogates that stand alone. (Without looking ahead or behind: in Postgres such a pattern
-- takes minutes for a few megabytes.)
CREATE FUNCTION oncehook.mend_json(json_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  -- U+0001 and U+0002 cannot stand in valid JSON: they stand for what steps aside, an escaped backslash
  -- and the backslashes of a pair of surrogates.
  json_text := translate(ltrim(json_text, U&'\FEFF'), E'\x01\x02', E'\x03\x03');
  json_text := replace(replace(json_text, '\\', E'\x01'), '\u0000', '\ufffd');
  json_text := regexp_replace(json_text, '\\(u[dD][89abAB][0-9a-fA-F]{2})\\(u[dD][c-fC-F][0-9a-fA-F]{2})', E'\x02\\1\x02\\2', 'g');
  json_text := regexp_replace(json_text, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g');
  RETURN replace(translate(json_text, E'\x02', '\'), E'\x01', '\\');
END $f$;

CREATE TYPE oncehook.reading AS (
  payload jsonb,   -- for queries and keys; null where jsonb cannot hold the body
  content text,    -- JSON text of what the workflow's business part gets; null for an empty body
  damage text,     -- why two ids may have become one: `escapes` (U+FFFD stands for what jsonb refuses),
                   -- `bytes` (not UTF-8: nothing but ASCII is sure); null where everything was read as it is
  form boolean     -- it was read as a form
);

-- application/x-www-form-urlencoded as an object of strings, or as a list of [name, value] in the order in which they
-- came; of equal names in an object the last one counts, a broken escape stays as it is. The form is written anew as
-- one JSON text: byte XX as \u00XX, then all of it taken for UTF-8. (Decoding pair by pair takes a quarter of a minute
-- for a few megabytes.)
CREATE FUNCTION oncehook.form_json(body bytea, as_list boolean, OUT value jsonb, OUT damage text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  t text;
BEGIN
  IF position('\x00'::bytea IN body) > 0 THEN
    body := decode(replace(replace(encode(body, 'escape'), '\\', '\134'), '\000', '%00'), 'escape');
  END IF;
  t := replace(convert_from(body, 'LATIN1'), '+', ' ');
  IF strpos(t, '%00') > 0 THEN
    t := replace(t, '%00', '%EF%BF%BD');
    damage := 'escapes';
  END IF;
  t := to_json(t);
  t := regexp_replace(substr(t, 2, length(t) - 2), '%([0-9A-Fa-f]{2})', '\\u00\1', 'g');
  t := regexp_replace(t || '&', '&*([^&=]*)(=([^&]*))?&', CASE WHEN as_list THEN '["\1","\3"],' ELSE '"\1":"\3",' END, 'g');
  value := CASE WHEN as_list THEN '[' || rtrim(t, ',') || ']' ELSE '{' || rtrim(t, ',') || '}' END;
  BEGIN
    value := convert_from(convert_to(value::text, 'LATIN1'), 'UTF8');
  EXCEPTION WHEN OTHERS THEN
    damage := 'bytes';
  END;
END $f$;

-- Whether a content type is a form's. n8n takes a multipart form apart; the workflow hands its fields on as the other kind
-- of form, under the content type that came.
CREATE FUNCTION oncehook.is_form(content_type text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN lower(content_type) LIKE ANY ('{application/x-www-form-urlencoded%,multipart/form-data%}');
END $f$;

-- A body that is a form.
CREATE FUNCTION oncehook.read_form(body bytea) RETURNS oncehook.reading
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r oncehook.reading;
BEGIN
  SELECT f.value, f.damage INTO r.payload, r.damage FROM oncehook.form_json(body, false) f;
  r.content := r.payload;
  r.form := true;
  RETURN r;
END $f$;

-- What a body says, whatever it is. Order of attempts: JSON; a form, by its content type; JSON mended; JSON
-- that only the type json can hold (numbers beyond numeric's range); anything else is one string.
CREATE FUNCTION oncehook.read_body(body bytea, content_type text) RETURNS oncehook.reading
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r oncehook.reading;
  t text;
BEGIN
  IF octet_length(coalesce(body, '')) = 0 THEN
    RETURN r;
  END IF;
  BEGIN
    r.damage := 'bytes';
    r.content := convert_from(body, 'UTF8');
    r.damage := 'escapes';
    r.payload := r.content::jsonb;
    r.damage := NULL;
    RETURN r;
  EXCEPTION WHEN OTHERS THEN
    IF oncehook.is_form(content_type) THEN
      RETURN oncehook.read_form(body);
    END IF;
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
