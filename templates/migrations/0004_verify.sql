-- Signatures. Null means: the sender proved to know a live secret. Anything else is why not.
--
-- Written with few, large expressions, and without regular expressions on the common path: PL/pgSQL
-- prepares each expression, and Postgres each regular expression, anew in every transaction, and a
-- delivery is one transaction.

-- What is signed: the parts of the provider's template, each filled in by itself (a header's value may look
-- like a placeholder); NULL where a header is missing.
CREATE FUNCTION oncehook.signed_message(parts jsonb, stamp text, headers jsonb, body bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  part text;
  message bytea := '';
BEGIN
  FOR part IN SELECT jsonb_array_elements_text(parts) LOOP
    message := message || CASE WHEN part = '{body}' THEN body
      ELSE convert_to(CASE WHEN part = '{timestamp}' THEN coalesce(stamp, '')
        WHEN starts_with(part, '{header.') THEN headers ->> substr(part, 9, length(part) - 9)
        ELSE part END, 'UTF8') END;
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

-- Whether any MAC in the header is that of any live secret: every pair is tried. What is compared is
-- hashed under a number that the sender cannot know, so that how long it takes tells nothing.
CREATE FUNCTION oncehook.any_mac(s oncehook.webhook_sources, given text[], message bytea, blind bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $f$
DECLARE
  written text;
BEGIN
  FOREACH written IN ARRAY given[:32] LOOP
    FOR i IN 1 .. cardinality(s.inner_pads) LOOP
      IF sha256(blind || convert_to(CASE WHEN s.signature ->> 'encoding' = 'hex' THEN lower(written) ELSE written END, 'UTF8'))
          = sha256(blind || convert_to(encode(sha256(s.outer_pads[i] || sha256(s.inner_pads[i] || message)), s.signature ->> 'encoding'), 'UTF8')) THEN
        RETURN true;
      END IF;
    END LOOP;
  END LOOP;
  RETURN false;
END $f$;

-- A header that holds the secret itself, after an optional prefix such as `Bearer `. Hashes are compared.
CREATE FUNCTION oncehook.verify_token(s oncehook.webhook_sources, header text) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  prefix text := coalesce(s.signature ->> 'prefix', '');
BEGIN
  IF coalesce(header, '') = '' THEN
    RETURN 'token missing';
  END IF;
  PERFORM FROM oncehook.webhook_secrets k
    WHERE k.source_id = s.id AND k.retired_at IS NULL AND starts_with(header, prefix)
      AND k.digest = sha256(convert_to(substr(header, length(prefix) + 1), 'UTF8'));
  RETURN CASE WHEN NOT FOUND THEN CASE WHEN cardinality(s.inner_pads) = 0 THEN 'no secret stored' ELSE 'token wrong' END END;
END $f$;

-- `s.signature` is the part of that name of the provider's file, `headers` have lower-case names, `at` is
-- the time to measure a timestamp's age by. Several signatures in one header, and several live secrets:
-- any pair may match. A source without a live secret refuses; nothing is accepted because a check could
-- not be made. Schemes: none; token (the header holds the secret); hmac-sha256 over `signed`.
CREATE FUNCTION oncehook.verify_fully(s oncehook.webhook_sources, headers jsonb, body bytea, at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  header text := headers ->> (s.signature ->> 'header');
  separator text := s.signature #>> '{pairs,separator}';
  stamp text := CASE WHEN s.signature #> '{timestamp,pair}' IS NOT NULL
      THEN (oncehook.pair_values(header, separator, s.signature #>> '{timestamp,pair}', s.signature #>> '{pairs,equals}'))[1]
    ELSE headers ->> (s.signature #>> '{timestamp,header}') END;
  given text[];
  message bytea;
  age float8;
BEGIN
  IF s.signature ->> 'scheme' <> 'hmac-sha256' THEN
    RETURN CASE s.signature ->> 'scheme'
      WHEN 'none' THEN NULL
      WHEN 'token' THEN oncehook.verify_token(s, header)
      ELSE 'signature scheme unknown' END;
  ELSIF coalesce(header, '') = '' THEN
    RETURN 'signature missing';
  ELSIF s.signature ? 'timestamp' AND (coalesce(stamp, '') = '' OR length(stamp) > 15 OR translate(stamp, '0123456789', '') <> '') THEN
    RETURN 'signature without a timestamp';
  END IF;
  given := CASE WHEN separator IS NOT NULL THEN oncehook.pair_values(header, separator, s.signature #>> '{pairs,name}', s.signature #>> '{pairs,equals}')
    WHEN starts_with(header, coalesce(s.signature ->> 'prefix', '')) THEN ARRAY[btrim(substr(header, length(coalesce(s.signature ->> 'prefix', '')) + 1))]
    ELSE '{}' END;
  message := oncehook.signed_message(s.signature -> 'signed', stamp, headers, body);
  IF message IS NULL OR NOT oncehook.any_mac(s, given, message, uuid_send(gen_random_uuid())) THEN
    RETURN CASE WHEN cardinality(s.inner_pads) = 0 THEN 'no secret stored' ELSE 'signature wrong' END;
  END IF;
  age := date_part('epoch', at) - stamp::float8 / CASE WHEN s.signature #>> '{timestamp,unit}' = 'ms' THEN 1000 ELSE 1 END;
  -- Past only, unless the provider's rule refuses the future too.
  RETURN CASE WHEN age > s.tolerance_seconds OR (s.signature #>> '{timestamp,future}' = 'refuse' AND -age > s.tolerance_seconds)
    THEN 'signature expired' END;
END $f$;

-- Whether the usual case holds: one MAC, of the newest secret, in its right place and in time. Whatever is not
-- so, right or wrong, `verify_fully` must look at. `header` is the signature's header with a separator in front.
-- A plain SQL function, and called with variables only, so that Postgres writes it into the caller's expression,
-- at no cost for the call. (The MACs are compared as hashes under the key.)
CREATE FUNCTION oncehook.signed_as_usual(s oncehook.webhook_sources, header text, stamp text, body bytea, at timestamptz) RETURNS boolean
LANGUAGE sql STABLE
  RETURN CASE WHEN s.tolerance_seconds IS NULL THEN NOT s.signature ? 'timestamp'
      WHEN translate(stamp, '0123456789', '') = '' AND length(stamp) BETWEEN 1 AND 10
      THEN date_part('epoch', at) - stamp::float8 BETWEEN 0 AND s.tolerance_seconds END
    AND sha256(s.outer_pads[1] || convert_to(split_part(split_part(header, s.mac_lead, 2), s.header_separator, 1), 'UTF8'))
      = sha256(s.outer_pads[1] || convert_to(encode(sha256(s.outer_pads[1] || sha256(s.inner_pads[1]
          || convert_to(replace(s.signed_before, '{timestamp}', stamp), 'UTF8') || body || convert_to(s.signed_after, 'UTF8')
        )), s.mac_encoding), 'UTF8'))
    -- a pair that begins with a blank has its place only there
    AND strpos(header, s.header_separator || ' ') = 0;

-- `verify_fully` by the source's id, the usual case first.
CREATE FUNCTION oncehook.verify(source text, headers jsonb, body bytea, at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  header text;
  stamp text;
BEGIN
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  IF s.id IS NULL THEN
    RETURN 'source unknown';
  END IF;
  header := s.header_separator || (headers ->> s.signature_header);
  stamp := split_part(split_part(header, s.stamp_lead, 2), s.header_separator, 1);
  IF oncehook.signed_as_usual(s, header, stamp, body, at) THEN
    RETURN NULL;
  END IF;
  RETURN oncehook.verify_fully(s, headers, body, at);
END $f$;
