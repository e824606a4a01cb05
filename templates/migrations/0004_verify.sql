-- Signatures. Null means: the sender proved to know a live secret. Anything else is why not.
--
-- Written with few, large expressions, and without regular expressions on the common path: PL/pgSQL
-- prepares each expression, and Postgres each regular expression, anew in every transaction, and a
-- delivery is one transaction.

-- A request as the parts of a signature see it.
CREATE TYPE oncehook.request AS (
  headers jsonb, query jsonb, body bytea,
  stamp text,      -- the time as it was sent
  payload jsonb,   -- the body read; null where the signature takes no value from it
  pairs jsonb,     -- the fields of a form
  item jsonb       -- the element that is checked by itself
);

-- The steps of a path.
CREATE FUNCTION oncehook.steps(path jsonb) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN ARRAY(SELECT s FROM jsonb_array_elements_text(path) WITH ORDINALITY AS x (s, n) ORDER BY n);
END $f$;

-- The text, number or boolean at a place of the request; NULL where there is none.
CREATE FUNCTION oncehook.value_at(q oncehook.request, origin text, path jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  found_at jsonb := CASE origin WHEN 'header' THEN q.headers -> (path ->> 0) WHEN 'query' THEN q.query -> (path ->> 0)
    WHEN 'body' THEN q.payload #> oncehook.steps(path) WHEN 'item' THEN q.item #> oncehook.steps(path) END;
BEGIN
  RETURN CASE WHEN jsonb_typeof(found_at) IN ('string', 'number', 'boolean') THEN found_at END;
END $f$;

-- The text at the place where a signature, a token or a time stands: a header, a parameter, or a path.
CREATE FUNCTION oncehook.text_at(q oncehook.request, place jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN CASE WHEN place ? 'header' THEN q.headers ->> (place ->> 'header')
    WHEN place ? 'query' THEN oncehook.value_at(q, 'query', jsonb_build_array(place -> 'query')) #>> '{}'
    WHEN place ? 'body' THEN oncehook.value_at(q, 'body', place -> 'body') #>> '{}'
    WHEN place ? 'item' THEN oncehook.value_at(q, 'item', place -> 'item') #>> '{}' END;
END $f$;

-- Fields of the body in the order of their names' bytes, as one text; NULL where the body has no fields of that
-- kind, so that nothing is taken for a form that is read as something else later. What is there twice counts once.
CREATE FUNCTION oncehook.fields_text(rule jsonb, q oncehook.request, secret bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  pairs jsonb := q.pairs;
BEGIN
  IF rule ->> 'from' = 'json' THEN
    pairs := CASE WHEN q.pairs IS NULL AND jsonb_typeof(q.payload) = 'object' THEN
      (SELECT coalesce(jsonb_agg(jsonb_build_array(f.key, f.value #>> '{}')), '[]') FROM jsonb_each(q.payload) f
        WHERE jsonb_typeof(f.value) IN ('string', 'number', 'boolean')) END;
  END IF;
  IF pairs IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN (
    SELECT coalesce(string_agg(
        (rule ->> 'before') || coalesce(f.name || (rule ->> 'middle'), '') || f.value || (rule ->> 'after'), rule ->> 'between'
        ORDER BY f.name COLLATE "C", f.value COLLATE "C"), '')
    FROM (
      SELECT p ->> 0 AS name, p ->> 1 AS value FROM jsonb_array_elements(pairs) p
        WHERE starts_with(p ->> 0, rule ->> 'begin') AND NOT rule -> 'except' ? (p ->> 0)
      UNION SELECT rule ->> 'secret_as', oncehook.body_text(secret) WHERE rule ? 'secret_as'
    ) f);
END $f$;

-- One alternative of what is signed: the parts of a template, each filled in by itself (a value may look like a
-- placeholder); NULL where a value is missing.
CREATE FUNCTION oncehook.signed_message(signature jsonb, parts jsonb, q oncehook.request, secret bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  part jsonb;
  origin text;
  v jsonb;
  message bytea := '';
BEGIN
  FOR part IN SELECT p FROM jsonb_array_elements(parts) WITH ORDINALITY AS x (p, n) ORDER BY n LOOP
    origin := part ->> 'from'; -- NULL for text
    IF part ? 'path' THEN
      v := oncehook.value_at(q, origin, part -> 'path');
      message := message || convert_to(CASE
        WHEN v IS NULL THEN CASE WHEN part ? 'optional' THEN '' END
        WHEN part ->> 'as' = 'json' THEN v::text
        WHEN part ->> 'as' = 'lower' THEN lower(v #>> '{}' COLLATE "C")
        ELSE v #>> '{}' END, 'UTF8');
    ELSE
      message := message || CASE
        WHEN jsonb_typeof(part) = 'string' THEN convert_to(part #>> '{}', 'UTF8')
        WHEN origin = 'body' AND part ->> 'as' = 'sha256' THEN convert_to(encode(sha256(q.body), 'hex'), 'UTF8')
        WHEN origin = 'body' AND part ->> 'as' = 'crc32' THEN convert_to(oncehook.crc32_of(q.body)::text, 'UTF8')
        WHEN origin = 'body' THEN q.body
        WHEN origin = 'timestamp' THEN convert_to(q.stamp, 'UTF8')
        WHEN origin = 'secret' AND part ->> 'as' = 'json' THEN convert_to(to_json(oncehook.body_text(secret))::text, 'UTF8')
        WHEN origin = 'secret' THEN secret
        WHEN origin = 'fields' THEN convert_to(oncehook.fields_text(signature -> 'fields', q, secret), 'UTF8')
        WHEN origin = 'form' THEN convert_to(oncehook.form_as_json(q.pairs), 'UTF8') END;
    END IF;
    EXIT WHEN message IS NULL;
  END LOOP;
  RETURN message;
END $f$;

-- What is signed: the first alternative that is complete.
CREATE FUNCTION oncehook.first_message(signature jsonb, q oncehook.request, secret bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  parts jsonb;
  message bytea;
BEGIN
  FOR parts IN SELECT p FROM jsonb_array_elements(signature -> 'signed') WITH ORDINALITY AS x (p, n) ORDER BY n LOOP
    message := oncehook.signed_message(signature, parts, q, secret);
    EXIT WHEN message IS NOT NULL;
  END LOOP;
  RETURN message;
END $f$;

-- The values of one name in a header of name=value pairs, in order.
CREATE FUNCTION oncehook.pair_values(header text, separator text, name text, equals text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  item text;
  found_values text[] := '{}';
BEGIN
  FOREACH item IN ARRAY string_to_array(coalesce(header, ''), separator) LOOP
    IF starts_with(btrim(item), name || coalesce(equals, '=')) THEN
      found_values := found_values || substr(btrim(item), length(name || coalesce(equals, '=')) + 1);
    END IF;
  END LOOP;
  RETURN found_values;
END $f$;

-- A signature as it is compared: hexadecimal in lower case, base64url without its padding.
CREATE FUNCTION oncehook.written_mac(written text, encoding text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN convert_to(CASE encoding WHEN 'hex' THEN lower(written) WHEN 'base64url' THEN rtrim(written, '=') ELSE written END, 'UTF8');
END $f$;

-- A MAC as the sender writes it.
CREATE FUNCTION oncehook.write_mac(mac bytea, encoding text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  -- Postgres breaks base64 into lines.
  RETURN CASE encoding WHEN 'hex' THEN encode(mac, 'hex') WHEN 'base64' THEN translate(encode(mac, 'base64'), E'\n', '')
    WHEN 'base64url' THEN translate(encode(mac, 'base64'), E'+/=\n', '-_') END;
END $f$;

-- The right signatures of a request: one for each live secret, newest first.
CREATE FUNCTION oncehook.right_macs(s oncehook.webhook_sources, q oncehook.request) RETURNS text[]
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  hash text := s.signature ->> 'hash';
  message bytea;
  secret bytea;
  macs text[] := '{}';
BEGIN
  IF s.signature ->> 'scheme' = 'hmac' THEN
    message := oncehook.first_message(s.signature, q, NULL);
    FOR i IN 1 .. cardinality(s.inner_pads) LOOP
      macs := macs || oncehook.write_mac(
        oncehook.hash_of(hash, s.outer_pads[i] || oncehook.hash_of(hash, s.inner_pads[i] || message)), s.signature ->> 'encoding');
    END LOOP;
  ELSE
    FOR secret IN SELECT k.secret FROM oncehook.webhook_secrets k
      WHERE k.source_id = s.id AND k.retired_at IS NULL ORDER BY k.created_at DESC, k.name LOOP
      macs := macs || oncehook.write_mac(
        oncehook.hash_of(hash, oncehook.first_message(s.signature, q, secret)), s.signature ->> 'encoding');
    END LOOP;
  END IF;
  RETURN macs;
END $f$;

-- Whether any signature that was sent is a right one: every pair is tried. What is compared is hashed under a
-- number that the sender cannot know, so that how long it takes tells nothing.
CREATE FUNCTION oncehook.any_mac(given text[], macs text[], encoding text, blind bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $f$
DECLARE
  written text;
  mac text;
BEGIN
  FOREACH written IN ARRAY given[:32] LOOP
    FOREACH mac IN ARRAY macs LOOP
      IF sha256(blind || oncehook.written_mac(written, encoding)) = sha256(blind || convert_to(mac, 'UTF8')) THEN
        RETURN true;
      END IF;
    END LOOP;
  END LOOP;
  RETURN false;
END $f$;

-- The secret itself, after an optional prefix such as `Bearer `, or user and password as HTTP Basic writes them.
-- Hashes are compared.
CREATE FUNCTION oncehook.verify_token(s oncehook.webhook_sources, q oncehook.request) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  basic boolean := s.signature ->> 'scheme' = 'basic';
  what text := CASE WHEN basic THEN 'password' ELSE 'token' END;
  given text := CASE WHEN basic THEN q.headers ->> 'authorization' ELSE oncehook.text_at(q, s.signature) END;
  prefix text := CASE WHEN basic THEN 'basic ' ELSE coalesce(s.signature ->> 'prefix', '') END;
  sent bytea;
BEGIN
  IF coalesce(given, '') = '' THEN
    RETURN what || ' missing';
  END IF;
  -- The name of the scheme Basic counts in either case.
  IF starts_with(CASE WHEN basic THEN lower(left(given, 6)) ELSE given END, prefix) THEN
    sent := sha256(convert_to(substr(given, length(prefix) + 1), 'UTF8'));
  END IF;
  PERFORM FROM oncehook.webhook_secrets k
    WHERE k.source_id = s.id AND k.retired_at IS NULL
      AND sent = CASE WHEN basic THEN sha256(convert_to(oncehook.write_mac(k.secret, 'base64'), 'UTF8')) ELSE k.digest END;
  RETURN CASE WHEN NOT FOUND THEN CASE WHEN cardinality(s.inner_pads) = 0 THEN 'no secret stored' ELSE what || ' wrong' END END;
END $f$;

-- The checks of one request, or of one element of its list.
CREATE FUNCTION oncehook.verify_request(s oncehook.webhook_sources, q oncehook.request, at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  rule jsonb := s.signature -> 'timestamp';
  header text := oncehook.text_at(q, s.signature);
  separator text := s.signature #>> '{pairs,separator}';
  equals text := s.signature #>> '{pairs,equals}';
  prefix text := coalesce(s.signature ->> 'prefix', '');
  name text;
  given text[] := '{}';
  age float8;
BEGIN
  IF s.signature ->> 'scheme' IN ('token', 'basic') THEN
    RETURN oncehook.verify_token(s, q);
  ELSIF s.signature ->> 'scheme' IN ('jws', 'jwt') THEN
    RETURN oncehook.verify_jws(s, q, at);
  END IF;
  q.stamp := CASE WHEN rule ? 'pair' THEN (oncehook.pair_values(header, separator, rule ->> 'pair', equals))[1] ELSE oncehook.text_at(q, rule) END;
  IF coalesce(header, '') <> '' THEN
    given := ARRAY[header];
  END IF;
  FOR name IN SELECT jsonb_array_elements_text(s.signature -> 'more_headers') LOOP
    given := given || CASE WHEN q.headers ->> name <> '' THEN ARRAY[q.headers ->> name] ELSE '{}' END;
  END LOOP;
  IF cardinality(given) = 0 THEN
    RETURN 'signature missing';
  ELSIF rule IS NOT NULL AND (coalesce(q.stamp, '') = '' OR length(q.stamp) > 15 OR translate(q.stamp, '0123456789', '') <> '') THEN
    RETURN 'signature without a timestamp';
  END IF;
  given := CASE WHEN separator IS NOT NULL
      THEN ARRAY(SELECT v FROM unnest(given) g, unnest(oncehook.pair_values(g, separator, s.signature #>> '{pairs,name}', equals)) v)
    ELSE ARRAY(SELECT btrim(substr(g, length(prefix) + 1)) FROM unnest(given) g WHERE starts_with(g, prefix)) END;
  IF NOT (CASE WHEN s.signature ? 'key_kind'
      THEN oncehook.any_key_holds(s, given, s.signature ->> 'encoding', oncehook.first_message(s.signature, q, NULL))
      ELSE oncehook.any_mac(given, oncehook.right_macs(s, q), s.signature ->> 'encoding', uuid_send(gen_random_uuid())) END) THEN
    RETURN CASE WHEN cardinality(s.inner_pads) = 0 THEN 'no secret stored' ELSE 'signature wrong' END;
  END IF;
  age := date_part('epoch', at) - q.stamp::float8
    / CASE WHEN rule ->> 'unit' = 'ms' OR rule ->> 'unit' = 'auto' AND q.stamp::float8 > 1e11 THEN 1000 ELSE 1 END;
  -- Past only, unless the provider's rule refuses the future too.
  RETURN CASE WHEN rule IS NULL OR rule ->> 'tolerance' = 'none' THEN NULL
    WHEN s.tolerance_seconds IS NULL THEN 'no tolerance set for the signed time'
    WHEN age > s.tolerance_seconds OR (rule ->> 'future' = 'refuse' AND -age > s.tolerance_seconds) THEN 'signature expired' END;
END $f$;

-- `s.signature` is the part of that name of the provider's file, compiled: templates are lists of parts, paths are
-- lists of steps. `headers` have lower-case names, `at` is the time to measure a timestamp's age by. Several
-- signatures, and several live secrets: any pair may match; of a list of elements every one must have its own. A
-- source without a live secret refuses; nothing is accepted because a check could not be made. Schemes: none; token
-- and basic (the request holds the secret); hmac and hash over `signed`; rsa, ecdsa and ed25519 likewise, under the
-- sender's public key; jws and jwt (a token that signs the body).
CREATE FUNCTION oncehook.verify_fully(s oncehook.webhook_sources, headers jsonb, query jsonb, body bytea, at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
DECLARE
  q oncehook.request;
  r oncehook.reading;
  item jsonb;
  items jsonb;
  reason text;
BEGIN
  IF coalesce(s.signature ->> 'scheme', '') NOT IN ('token', 'basic', 'hmac', 'hash', 'rsa', 'ecdsa', 'ed25519', 'jws', 'jwt') THEN
    RETURN CASE WHEN s.signature ->> 'scheme' = 'none' THEN NULL ELSE 'signature scheme unknown' END;
  ELSIF s.signature ? 'hash' AND oncehook.hash_of(s.signature ->> 'hash', '') IS NULL THEN
    RETURN CASE WHEN s.signature ->> 'hash' = 'sha1' THEN 'SHA-1 cannot be computed: the extension pgcrypto is missing'
      ELSE 'hash function unknown' END;
  END IF;
  q.headers := headers;
  q.query := query;
  q.body := body;
  IF s.signature ?| '{body,item,each}' OR s.signature #> '{timestamp,body}' IS NOT NULL
    OR jsonb_path_exists(s.signature, '$.signed[*][*] ? (@.from == "fields" || @.from == "form" || @.from == "body" && exists(@.path))') THEN
    -- A form of millions of fields takes half a minute to read, and whoever sent it has proved nothing yet.
    IF oncehook.is_form(headers ->> 'content-type')
      AND length(encode(body, 'escape')) - length(replace(encode(body, 'escape'), '&', '')) > 10000 THEN
      RETURN 'more fields in the body than can be checked';
    END IF;
    r := oncehook.read_body(body, headers ->> 'content-type');
    IF r.damage IS NOT NULL OR r.content IS NOT NULL AND r.payload IS NULL THEN
      RETURN 'signed values of the body cannot be read';
    END IF;
    q.payload := r.payload;
    q.pairs := CASE WHEN r.content IS NULL THEN '[]' WHEN r.form THEN (oncehook.form_json(body, true)).value END;
  END IF;
  IF NOT s.signature ? 'each' THEN
    RETURN oncehook.verify_request(s, q, at);
  END IF;
  items := q.payload #> oncehook.steps(s.signature -> 'each');
  IF jsonb_typeof(items) IS DISTINCT FROM 'array' OR items = '[]' THEN
    RETURN 'nothing that could be signed where the body should have a list';
  END IF;
  FOR item IN SELECT jsonb_array_elements(items) LOOP
    q.item := item;
    reason := oncehook.verify_request(s, q, at);
    IF reason IS NOT NULL THEN
      RETURN reason;
    END IF;
  END LOOP;
  RETURN NULL;
END $f$;

-- Whether the usual case holds: one MAC, of the newest secret, in its right place and in time. Whatever is not
-- so, right or wrong, `verify_fully` must look at. `header` is the signature's header with a separator in front.
-- Few functions, for each is looked up and checked anew for every delivery. A plain SQL function, and called with variables only, so that Postgres writes it into the caller's expression,
-- at no cost for the call. (The MACs are compared as hashes under the key.)
CREATE FUNCTION oncehook.signed_as_usual(s oncehook.webhook_sources, header text, stamp text, body bytea, at timestamptz) RETURNS boolean
LANGUAGE sql STABLE
  RETURN CASE WHEN s.tolerance_seconds IS NULL THEN true
      -- ten digits, as every time of this age has; and in one bucket that begins with age 0 and ends with the tolerance
      WHEN translate(stamp, '123456789', '000000000') = '0000000000'
      THEN width_bucket(date_part('epoch', at) - stamp::float8, 0, s.tolerance_seconds, 1) = 1 END
    AND sha256(s.outer_pads[1] || convert_to(split_part(split_part(header, s.mac_lead, 2), s.header_separator, 1), 'UTF8'))
      = sha256(s.outer_pads[1] || convert_to(encode(sha256(s.outer_pads[1] || sha256(s.inner_pads[1]
          || convert_to(replace(s.signed_before, '{timestamp}', stamp), 'UTF8') || body || convert_to(s.signed_after, 'UTF8')
        )), s.mac_encoding), 'UTF8'))
    -- a pair that begins with a blank has its place only there
    AND strpos(header, s.header_separator || ' ') = 0;

-- `verify_fully` by the source's id, the usual case first.
CREATE FUNCTION oncehook.verify(source text, headers jsonb, query jsonb, body bytea, at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  header text;
  stamp text;
BEGIN
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  header := s.header_separator || (headers ->> s.signature_header);
  stamp := split_part(split_part(header, s.stamp_lead, 2), s.header_separator, 1);
  IF oncehook.signed_as_usual(s, header, stamp, body, at) THEN
    RETURN NULL;
  ELSIF s.id IS NULL THEN
    RETURN 'source unknown';
  END IF;
  RETURN oncehook.verify_fully(s, headers, query, body, at);
END $f$;
