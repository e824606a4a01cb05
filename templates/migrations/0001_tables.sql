-- The ledger's tables. Functions and views that work on them follow in the later files.

-- SHA-1, which Postgres itself has not: by the extension pgcrypto, in whatever schema it is. NULL without it.
CREATE FUNCTION oncehook.sha1(message bytea) RETURNS bytea
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  home name := (SELECT n.nspname FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace WHERE x.extname = 'pgcrypto');
  digest bytea;
BEGIN
  IF home IS NOT NULL THEN
    EXECUTE format('SELECT %I.digest($1, %L::text)', home, 'sha1') INTO digest USING message;
  END IF;
  RETURN digest;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL; -- a server whose policy forbids SHA-1
END $f$;

-- A message's hash; NULL for a function that is not known, or that this database cannot compute: it refuses.
CREATE FUNCTION oncehook.hash_of(hash text, message bytea) RETURNS bytea
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN CASE hash WHEN 'sha256' THEN sha256(message) WHEN 'sha512' THEN sha512(message) WHEN 'sha384' THEN sha384(message)
    WHEN 'md5' THEN decode(md5(message), 'hex') WHEN 'sha1' THEN oncehook.sha1(message) END;
END $f$;

-- One half of an HMAC key, ready to be hashed in front of a message (RFC 2104): the key, hashed when longer
-- than the hash function's block, filled up to the block, each byte XORed with `fill` (54 for the inner, 92
-- for the outer pad). Computed once per secret, so that a delivery costs two hashes and no extension.
CREATE FUNCTION oncehook.hmac_pad(key bytea, fill int, hash text) RETURNS bytea
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  block int := CASE WHEN hash IN ('sha384', 'sha512') THEN 128 ELSE 64 END;
  short bytea := CASE WHEN octet_length(key) > block THEN oncehook.hash_of(hash, key) ELSE key END;
  pad bytea := decode(repeat(lpad(to_hex(fill), 2, '0'), block), 'hex');
BEGIN
  IF short IS NULL THEN
    RETURN NULL;
  END IF;
  FOR i IN 0 .. octet_length(short) - 1 LOOP
    pad := set_byte(pad, i, get_byte(short, i) # fill);
  END LOOP;
  RETURN pad;
END $f$;

-- A recipe (the text in the node "Idempotency key") as a plan that a delivery can be held against
-- without parsing: an array of alternatives, each an array of parts, a part being
-- {"literal": …} or {"from": "body"|"header"|"query"|"body_sha256", "path": "{a,b}"}.
-- NULL where the text is not a recipe.
CREATE FUNCTION oncehook.compile_recipe(recipe text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  line text;
  token text;
  parts jsonb;
  plan jsonb := '[]';
  origin text;
  steps text[];
BEGIN
  FOREACH line IN ARRAY regexp_split_to_array(recipe, '\r?\n') LOOP
    line := btrim(line, E' \t');
    CONTINUE WHEN line = '';
    parts := '[]';
    -- Cut into placeholders and the text between them; a quoted step may hold a brace.
    FOR token IN SELECT m[1] FROM regexp_matches(line, '(\{(?:[^{}"]|"[^"]*")*\}|[^{}]+|[{}])', 'g') AS m LOOP
      IF left(token, 1) <> '{' AND token <> '}' THEN
        parts := parts || jsonb_build_array(jsonb_build_object('literal', token));
        CONTINUE;
      END IF;
      IF token = '{body_sha256}' THEN
        parts := parts || '[{"from": "body_sha256"}]'::jsonb;
        CONTINUE;
      END IF;
      IF token !~ '^\{(body|header|query)(\.([^."{}\s]+|"[^"]+"))+\}$' THEN
        RETURN NULL;
      END IF;
      SELECT array_agg(btrim(m[1], '"') ORDER BY n) INTO steps
        FROM regexp_matches(substr(token, 2, length(token) - 2), '([^."]+|"[^"]+")', 'g') WITH ORDINALITY AS x (m, n);
      origin := steps[1];
      steps := steps[2:];
      IF origin <> 'body' THEN
        IF cardinality(steps) > 1 THEN
          RETURN NULL;
        END IF;
        IF origin = 'header' THEN
          steps[1] := lower(steps[1]);
        END IF;
      END IF;
      parts := parts || jsonb_build_array(jsonb_build_object('from', origin, 'path', steps::text));
    END LOOP;
    IF NOT jsonb_path_exists(parts, '$[*].from') THEN
      RETURN NULL; -- a text without a placeholder would give every event one key
    END IF;
    FOR j IN 1 .. jsonb_array_length(parts) - 1 LOOP
      -- Between two values a colon that is no part of an escape, or different parts could give one key.
      IF parts -> j ? 'from'
        AND (parts -> (j - 1) ? 'from' OR j > 1 AND parts -> (j - 1) ->> 'literal' !~ '^([^:\\]|\\.)*:') THEN
        RETURN NULL;
      END IF;
    END LOOP;
    plan := plan || jsonb_build_array(parts);
  END LOOP;
  RETURN nullif(plan, '[]');
END $f$;

-- The path of a recipe that begins with one lone body placeholder, as most do: the common case of a
-- delivery then costs one look-up. NULL for every other recipe.
CREATE FUNCTION oncehook.lone_body_path(recipe text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  plan jsonb := oncehook.compile_recipe(recipe);
BEGIN
  IF jsonb_array_length(plan -> 0) = 1 AND plan -> 0 -> 0 ->> 'from' = 'body' THEN
    RETURN (plan -> 0 -> 0 ->> 'path')::text[];
  END IF;
  RETURN NULL;
END $f$;

-- What an HMAC scheme signs before the body, or after it: text with {timestamp} in it. NULL where more is signed
-- than the time and the body, or less, so that the short way of `verify` does not apply.
CREATE FUNCTION oncehook.signed_text(signature jsonb, after_body boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  part jsonb;
  piece text;
  before text := '';
  after text;
BEGIN
  IF signature #> '{signed,1}' IS NOT NULL OR jsonb_typeof(signature #> '{signed,0}') IS DISTINCT FROM 'array' THEN
    RETURN NULL;
  END IF;
  FOR part IN SELECT p FROM jsonb_array_elements(signature #> '{signed,0}') WITH ORDINALITY AS x (p, n) ORDER BY n LOOP
    IF part = '{"from": "body"}' AND after IS NULL THEN
      after := '';
      CONTINUE;
    END IF;
    piece := CASE WHEN part = '{"from": "timestamp"}' THEN '{timestamp}'
      -- text with a brace could look like the time's place
      WHEN jsonb_typeof(part) = 'string' AND strpos(part #>> '{}', '{') = 0 THEN part #>> '{}' END;
    IF piece IS NULL THEN
      RETURN NULL;
    ELSIF after IS NULL THEN
      before := before || piece;
    ELSE
      after := after || piece;
    END IF;
  END LOOP;
  RETURN CASE WHEN after IS NULL THEN NULL WHEN after_body THEN after ELSE before END;
END $f$;

-- What stands in front of a MAC or a timestamp in the signature's header, begun by the separator of
-- pairs; where the header holds no pairs, by a character that no header can hold.
CREATE FUNCTION oncehook.header_lead(signature jsonb, path text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN coalesce(
    (signature #>> '{pairs,separator}') || (signature #>> path) || coalesce(signature #>> '{pairs,equals}', '='),
    E'\x01' || CASE WHEN NOT signature ? 'pairs' THEN coalesce(signature ->> 'prefix', '') END);
END $f$;

-- How the MAC of the usual scheme is written: HMAC-SHA256 with a timestamp in seconds, or with none. NULL for
-- every other scheme, which `verify_fully` alone can judge.
CREATE FUNCTION oncehook.usual_encoding(signature jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN CASE WHEN signature ->> 'scheme' = 'hmac' AND signature ->> 'hash' = 'sha256' AND signature ->> 'encoding' IN ('hex', 'base64')
    AND NOT signature ? 'each' AND coalesce(signature #>> '{timestamp,unit}', 's') = 's' THEN signature ->> 'encoding' END;
END $f$;

-- Headers and query parameters whose values the ledger must not keep: they would let a reader of the
-- table act as the sender.
CREATE FUNCTION oncehook.credential_names(signature jsonb) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  names text[] := ARRAY['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'apikey', 'api_key',
    'x-auth-token', 'token', 'Token', 'access_token', 'accessToken', 'apiKey', 'secret', 'password'];
BEGIN
  RETURN CASE WHEN signature ->> 'scheme' = 'token' THEN array_remove(names || (signature ->> 'header') || (signature ->> 'query'), NULL)
    ELSE names END;
END $f$;

CREATE TABLE oncehook.webhook_sources (
  id text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  name text NOT NULL,
  provider text NOT NULL,
  signature jsonb NOT NULL CHECK (signature ? 'scheme'),
  signed_before text GENERATED ALWAYS AS (oncehook.signed_text(signature, false)) STORED,
  signed_after text GENERATED ALWAYS AS (oncehook.signed_text(signature, true)) STORED,
  header_separator text GENERATED ALWAYS AS (coalesce(signature #>> '{pairs,separator}', E'\x01')) STORED,
  mac_lead text GENERATED ALWAYS AS (oncehook.header_lead(signature, '{pairs,name}')) STORED,
  stamp_lead text GENERATED ALWAYS AS (oncehook.header_lead(signature, '{timestamp,pair}')) STORED,
  signature_header text GENERATED ALWAYS AS (signature ->> 'header') STORED,
  mac_encoding text GENERATED ALWAYS AS (
    CASE WHEN tolerance_seconds IS NOT NULL OR NOT signature ? 'timestamp' THEN oncehook.usual_encoding(signature) END) STORED,
  credential_names text[] NOT NULL GENERATED ALWAYS AS (oncehook.credential_names(signature)) STORED,
  key_recipe text NOT NULL,
  key_plan jsonb NOT NULL GENERATED ALWAYS AS (oncehook.compile_recipe(key_recipe)) STORED,
  key_path text[] GENERATED ALWAYS AS (oncehook.lone_body_path(key_recipe)) STORED,
  key_format text NOT NULL DEFAULT 'plain' CHECK (key_format IN ('plain', 'sha256')),
  type_recipe text,
  type_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(type_recipe)) STORED,
  type_path text[] GENERATED ALWAYS AS (oncehook.lone_body_path(type_recipe)) STORED,
  object_recipe text,
  object_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(object_recipe)) STORED,
  object_path text[] GENERATED ALWAYS AS (oncehook.lone_body_path(object_recipe)) STORED,
  volatile jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(volatile) = 'array'),
  tolerance_seconds int CHECK (tolerance_seconds > 0),
  lease interval NOT NULL DEFAULT '15 minutes' CHECK (lease > '0'),
  max_attempts int NOT NULL DEFAULT 8 CHECK (max_attempts > 0),
  retention interval NOT NULL DEFAULT '90 days' CHECK (retention > '0'),
  ack text NOT NULL DEFAULT 'after-claim' CHECK (ack IN ('after-claim', 'after-success')),
  answers jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(answers) = 'object'),
  rules jsonb CHECK (jsonb_typeof(rules) = 'object'),
  active boolean NOT NULL DEFAULT true,
  inner_pads bytea[] NOT NULL DEFAULT '{}',
  outer_pads bytea[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE oncehook.webhook_sources IS 'One row a configured endpoint. Its id never changes: it begins every idempotency key.';
COMMENT ON COLUMN oncehook.webhook_sources.volatile IS 'Body paths that the provider changes from one delivery to the next: left out when bodies are compared.';
COMMENT ON COLUMN oncehook.webhook_sources.rules IS 'What few senders need: `handshakes`, `questions`, `guard`, `items`, `fetch`. NULL for all others, whose deliveries then cost nothing more.';
COMMENT ON COLUMN oncehook.webhook_sources.active IS 'False once the source left the configuration: its deliveries are rejected.';

CREATE TABLE oncehook.webhook_secrets (
  source_id text NOT NULL REFERENCES oncehook.webhook_sources (id) ON DELETE CASCADE,
  name text NOT NULL,
  secret bytea NOT NULL CHECK (octet_length(secret) > 0),
  digest bytea NOT NULL GENERATED ALWAYS AS (sha256(secret)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz,
  PRIMARY KEY (source_id, name)
);
COMMENT ON TABLE oncehook.webhook_secrets IS 'Signing secrets, several live per source while one is being rotated. No role but the owner reads this table.';

-- The live secrets' pads, newest first, stand in their source's row, which every delivery reads anyway: a query
-- less for each of them. They depend on the hash function, so they change with the signature too.
COMMENT ON COLUMN oncehook.webhook_sources.inner_pads IS 'Kept by triggers on webhook_secrets and webhook_sources; one for each live secret, whatever the scheme.';
CREATE FUNCTION oncehook.live_pads(source text, signature jsonb, fill int) RETURNS bytea[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN (SELECT coalesce(array_agg(oncehook.hmac_pad(k.secret, fill, coalesce(signature ->> 'hash', 'sha256')) ORDER BY k.created_at DESC, k.name), '{}')
    FROM oncehook.webhook_secrets k WHERE k.source_id = source AND k.retired_at IS NULL);
END $f$;
CREATE FUNCTION oncehook.copy_pads() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  UPDATE oncehook.webhook_sources s
    SET inner_pads = oncehook.live_pads(s.id, s.signature, 54), outer_pads = oncehook.live_pads(s.id, s.signature, 92)
    WHERE s.id IN (OLD.source_id, NEW.source_id);
  RETURN NULL;
END $f$;
CREATE TRIGGER webhook_secrets_pads AFTER INSERT OR UPDATE OR DELETE ON oncehook.webhook_secrets
  FOR EACH ROW EXECUTE FUNCTION oncehook.copy_pads();
CREATE FUNCTION oncehook.renew_pads() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  NEW.inner_pads := oncehook.live_pads(NEW.id, NEW.signature, 54);
  NEW.outer_pads := oncehook.live_pads(NEW.id, NEW.signature, 92);
  RETURN NEW;
END $f$;
CREATE TRIGGER webhook_sources_pads BEFORE UPDATE OF signature ON oncehook.webhook_sources
  FOR EACH ROW EXECUTE FUNCTION oncehook.renew_pads();

CREATE TABLE oncehook.webhook_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  idempotency_key text NOT NULL UNIQUE,
  source text NOT NULL,
  event_type text,
  external_id text,
  object_id text,
  status text NOT NULL DEFAULT 'processing'
    CHECK (status IN ('received', 'processing', 'success', 'failed', 'dead', 'stale')),
  attempts int NOT NULL DEFAULT 1,
  replays int NOT NULL DEFAULT 0,
  claim_hash bytea,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  locked_until timestamptz NOT NULL,
  next_attempt_at timestamptz,
  overruns int NOT NULL DEFAULT 0,
  workflow text,
  execution_id text,
  instance text,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  processed_at timestamptz,
  error text,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea NOT NULL,
  body_sha256 bytea NOT NULL,
  payload jsonb,
  item int,
  -- What is final can be taken by nobody, and what can still be taken has an end to its lock.
  CONSTRAINT webhook_events_lock CHECK ((status IN ('success', 'dead', 'stale')) = (locked_until = 'infinity'))
);
-- What is due: failed events, and leases that will lapse unless their run ends first. Small, whatever the table's size.
CREATE INDEX webhook_events_due ON oncehook.webhook_events (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
COMMENT ON TABLE oncehook.webhook_events IS 'The ledger: one row an event, named by its idempotency key.';
COMMENT ON COLUMN oncehook.webhook_events.locked_until IS 'The one thing that decides who may take the event: -infinity after a failure, infinity when final, else the end of the lease.';
COMMENT ON COLUMN oncehook.webhook_events.claim_hash IS 'SHA-256 of the fencing token; the token itself is with the run that holds the claim, and nowhere else.';
COMMENT ON COLUMN oncehook.webhook_events.body IS 'The exact bytes. payload is their reading, for queries alone: null where jsonb cannot hold it, and never printed or replayed.';
COMMENT ON COLUMN oncehook.webhook_events.replays IS 'How many of the attempts were started from the ledger and not by a delivery.';
COMMENT ON COLUMN oncehook.webhook_events.item IS 'The place of the event in its request, where one request holds several: the order in which its run works on them.';
COMMENT ON COLUMN oncehook.webhook_events.overruns IS 'How often a run tried to complete the event after another one had taken it over.';

CREATE TABLE oncehook.webhook_duplicates (
  event_id bigint NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  source text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  source_ip text,
  outcome text NOT NULL, -- `duplicate` or `mismatch`; a CHECK would be read and prepared anew for every duplicate
  body_sha256 bytea,
  body bytea,
  -- No foreign key: a duplicate that crosses its event's deletion must not fail.
  PRIMARY KEY (event_id, id)
);
COMMENT ON TABLE oncehook.webhook_duplicates IS 'The audit: one row a delivery of an event that was already taken; the body is kept where it differed.';

CREATE TABLE oncehook.webhook_dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('reception', 'processing')),
  event_id bigint,
  idempotency_key text,
  reason text NOT NULL,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea NOT NULL,
  body_sha256 bytea NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  deliveries int NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  resolution text,
  CHECK ((kind = 'processing') = (event_id IS NOT NULL))
);
CREATE UNIQUE INDEX webhook_dead_letters_body ON oncehook.webhook_dead_letters (source, body_sha256) WHERE event_id IS NULL;
CREATE UNIQUE INDEX webhook_dead_letters_event ON oncehook.webhook_dead_letters (event_id) WHERE resolved_at IS NULL;
COMMENT ON TABLE oncehook.webhook_dead_letters IS 'What needs a person: deliveries that could not be keyed (reception) and events whose attempts are used up (processing).';

CREATE TABLE oncehook.webhook_rejections (
  source text NOT NULL,
  reason text NOT NULL,
  hour timestamptz NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (source, reason, hour, shard)
) WITH (fillfactor = 50);
COMMENT ON TABLE oncehook.webhook_rejections IS 'Rejected deliveries, counted and not stored: a flood must not fill the disk. Shards keep a flood from queueing on one row.';

CREATE TABLE oncehook.webhook_totals (
  source text NOT NULL,
  metric text NOT NULL,
  label text NOT NULL DEFAULT '',
  count bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (source, metric, label)
);
COMMENT ON TABLE oncehook.webhook_totals IS 'What retention has deleted, so that the counters of webhook_metrics never fall.';
