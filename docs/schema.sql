-- The schema as the migrations leave it. Written by the tests, for reading: migrations are what runs.

-- Tables and types

CREATE TYPE oncehook.answer AS (
  outcome text,
  code integer,
  answer text,
  content_type text,
  retry_after integer,
  key text,
  claim text,
  attempts integer,
  status text,
  reason text,
  source text,
  event_id text,
  type text,
  external_id text,
  object_id text,
  first_seen_at timestamp with time zone,
  body json,
  headers jsonb,
  query jsonb
);

CREATE TYPE oncehook.delivery AS (
  refused text,
  reason text,
  source text,
  key text,
  event_type text,
  external_id text,
  object_id text,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea,
  body_sha256 bytea,
  payload jsonb,
  content text,
  token text,
  claim_hash bytea,
  locked_until timestamp with time zone,
  sender text,
  event_id bigint,
  status text,
  taken_sha256 bytea,
  volatile jsonb,
  ack text,
  answers jsonb
);

CREATE TABLE oncehook.migrations (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  run_on timestamp with time zone NOT NULL,
  sha256 text DEFAULT current_setting('oncehook.migration_sha256'::text) NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (id),
  CONSTRAINT migrations_name_key UNIQUE (name),
  CONSTRAINT migrations_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

COMMENT ON TABLE oncehook.migrations IS 'The migrations that were applied, with the SHA-256 of each file at that time.';

CREATE TYPE oncehook.reading AS (
  payload jsonb,
  content text,
  mended boolean
);

CREATE TYPE oncehook.transition AS (
  status text,
  explanation text
);

CREATE TABLE oncehook.webhook_dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  source text NOT NULL,
  kind text NOT NULL,
  event_id bigint,
  idempotency_key text,
  reason text NOT NULL,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea NOT NULL,
  body_sha256 bytea NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  deliveries integer DEFAULT 1 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
  resolved_at timestamp with time zone,
  resolution text,
  CONSTRAINT webhook_dead_letters_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_dead_letters_check CHECK (((kind = 'processing'::text) = (event_id IS NOT NULL))),
  CONSTRAINT webhook_dead_letters_kind_check CHECK ((kind = ANY (ARRAY['reception'::text, 'processing'::text])))
);

COMMENT ON TABLE oncehook.webhook_dead_letters IS 'What needs a person: deliveries that could not be keyed (reception) and events whose attempts are used up (processing).';

CREATE UNIQUE INDEX webhook_dead_letters_body ON oncehook.webhook_dead_letters USING btree (source, body_sha256) WHERE (event_id IS NULL);
CREATE UNIQUE INDEX webhook_dead_letters_event ON oncehook.webhook_dead_letters USING btree (event_id) WHERE (resolved_at IS NULL);

CREATE TABLE oncehook.webhook_duplicates (
  event_id bigint NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  source text NOT NULL,
  received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  source_ip text,
  outcome text NOT NULL,
  body_sha256 bytea,
  body bytea,
  CONSTRAINT webhook_duplicates_pkey PRIMARY KEY (event_id, id),
  CONSTRAINT webhook_duplicates_outcome_check CHECK ((outcome = ANY (ARRAY['duplicate'::text, 'mismatch'::text])))
);

COMMENT ON TABLE oncehook.webhook_duplicates IS 'The audit: one row a delivery of an event that was already taken; the body is kept where it differed.';

CREATE TABLE oncehook.webhook_events (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  idempotency_key text NOT NULL,
  source text NOT NULL,
  event_type text,
  external_id text,
  object_id text,
  status text DEFAULT 'processing'::text NOT NULL,
  attempts integer DEFAULT 1 NOT NULL,
  replays integer DEFAULT 0 NOT NULL,
  claim_hash bytea,
  claimed_at timestamp with time zone DEFAULT now() NOT NULL,
  locked_until timestamp with time zone NOT NULL,
  next_attempt_at timestamp with time zone,
  overruns integer DEFAULT 0 NOT NULL,
  workflow text,
  execution_id text,
  instance text,
  first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
  processed_at timestamp with time zone,
  error text,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea NOT NULL,
  body_sha256 bytea NOT NULL,
  payload jsonb,
  CONSTRAINT webhook_events_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_events_idempotency_key_key UNIQUE (idempotency_key),
  CONSTRAINT webhook_events_lock CHECK (((status = ANY (ARRAY['success'::text, 'dead'::text, 'stale'::text])) = (locked_until = 'infinity'::timestamp with time zone))),
  CONSTRAINT webhook_events_status_check CHECK ((status = ANY (ARRAY['received'::text, 'processing'::text, 'success'::text, 'failed'::text, 'dead'::text, 'stale'::text])))
);

COMMENT ON TABLE oncehook.webhook_events IS 'The ledger: one row an event, named by its idempotency key.';
COMMENT ON COLUMN oncehook.webhook_events.replays IS 'How many of the attempts were started from the ledger and not by a delivery.';
COMMENT ON COLUMN oncehook.webhook_events.claim_hash IS 'SHA-256 of the fencing token; the token itself is with the run that holds the claim, and nowhere else.';
COMMENT ON COLUMN oncehook.webhook_events.locked_until IS 'The one thing that decides who may take the event: -infinity after a failure, infinity when final, else the end of the lease.';
COMMENT ON COLUMN oncehook.webhook_events.overruns IS 'How often a run tried to complete the event after another one had taken it over.';
COMMENT ON COLUMN oncehook.webhook_events.body IS 'The exact bytes. payload is their reading, for queries alone: null where jsonb cannot hold it, and never printed or replayed.';

CREATE INDEX webhook_events_due ON oncehook.webhook_events USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE TRIGGER webhook_events_guard BEFORE UPDATE ON oncehook.webhook_events FOR EACH ROW WHEN (((NOT ((old.locked_until < now()) AND (new.locked_until < 'infinity'::timestamp with time zone) AND (new.status = 'processing'::text) AND (new.attempts = (old.attempts + 1)) AND (new.claim_hash IS DISTINCT FROM old.claim_hash))) AND (NOT has_table_privilege(CURRENT_USER, 'oncehook.webhook_events'::text, 'DELETE'::text)))) EXECUTE FUNCTION oncehook.refuse_transition();

CREATE TABLE oncehook.webhook_rejections (
  source text NOT NULL,
  reason text NOT NULL,
  hour timestamp with time zone NOT NULL,
  shard smallint NOT NULL,
  count bigint DEFAULT 1 NOT NULL,
  CONSTRAINT webhook_rejections_pkey PRIMARY KEY (source, reason, hour, shard)
) WITH (fillfactor=50);

COMMENT ON TABLE oncehook.webhook_rejections IS 'Rejected deliveries, counted and not stored: a flood must not fill the disk. Shards keep a flood from queueing on one row.';

CREATE TABLE oncehook.webhook_secrets (
  source_id text NOT NULL,
  name text NOT NULL,
  secret bytea NOT NULL,
  inner_pad bytea GENERATED ALWAYS AS (oncehook.hmac_pad(secret, 54)) STORED NOT NULL,
  outer_pad bytea GENERATED ALWAYS AS (oncehook.hmac_pad(secret, 92)) STORED NOT NULL,
  digest bytea GENERATED ALWAYS AS (sha256(secret)) STORED NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  retired_at timestamp with time zone,
  CONSTRAINT webhook_secrets_pkey PRIMARY KEY (source_id, name),
  CONSTRAINT webhook_secrets_source_id_fkey FOREIGN KEY (source_id) REFERENCES oncehook.webhook_sources(id) ON DELETE CASCADE,
  CONSTRAINT webhook_secrets_secret_check CHECK ((octet_length(secret) > 0))
);

COMMENT ON TABLE oncehook.webhook_secrets IS 'Signing secrets, several live per source while one is being rotated. No role but the owner reads this table.';

CREATE TABLE oncehook.webhook_sources (
  id text NOT NULL,
  name text NOT NULL,
  provider text NOT NULL,
  signature jsonb NOT NULL,
  key_recipe text NOT NULL,
  key_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(key_recipe)) STORED NOT NULL,
  key_format text DEFAULT 'plain'::text NOT NULL,
  type_recipe text,
  type_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(type_recipe)) STORED,
  object_recipe text,
  object_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(object_recipe)) STORED,
  volatile jsonb DEFAULT '[]'::jsonb NOT NULL,
  tolerance_seconds integer,
  lease interval DEFAULT '00:15:00'::interval NOT NULL,
  max_attempts integer DEFAULT 8 NOT NULL,
  retention interval DEFAULT '90 days'::interval NOT NULL,
  ack text DEFAULT 'after-claim'::text NOT NULL,
  answers jsonb DEFAULT '{}'::jsonb NOT NULL,
  active boolean DEFAULT true NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT webhook_sources_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_sources_ack_check CHECK ((ack = ANY (ARRAY['after-claim'::text, 'after-success'::text]))),
  CONSTRAINT webhook_sources_answers_check CHECK ((jsonb_typeof(answers) = 'object'::text)),
  CONSTRAINT webhook_sources_id_check CHECK ((id ~ '^[a-z0-9][a-z0-9-]{0,39}$'::text)),
  CONSTRAINT webhook_sources_key_format_check CHECK ((key_format = ANY (ARRAY['plain'::text, 'sha256'::text]))),
  CONSTRAINT webhook_sources_lease_check CHECK ((lease > '00:00:00'::interval)),
  CONSTRAINT webhook_sources_max_attempts_check CHECK ((max_attempts > 0)),
  CONSTRAINT webhook_sources_retention_check CHECK ((retention > '00:00:00'::interval)),
  CONSTRAINT webhook_sources_signature_check CHECK ((signature ? 'scheme'::text)),
  CONSTRAINT webhook_sources_tolerance_seconds_check CHECK ((tolerance_seconds > 0)),
  CONSTRAINT webhook_sources_volatile_check CHECK ((jsonb_typeof(volatile) = 'array'::text))
);

COMMENT ON TABLE oncehook.webhook_sources IS 'One row a configured endpoint. Its id never changes: it begins every idempotency key.';
COMMENT ON COLUMN oncehook.webhook_sources.volatile IS 'Body paths that the provider changes from one delivery to the next: left out when bodies are compared.';
COMMENT ON COLUMN oncehook.webhook_sources.active IS 'False once the source left the configuration: its deliveries are rejected.';

CREATE TABLE oncehook.webhook_totals (
  source text NOT NULL,
  metric text NOT NULL,
  label text DEFAULT ''::text NOT NULL,
  count bigint DEFAULT 0 NOT NULL,
  CONSTRAINT webhook_totals_pkey PRIMARY KEY (source, metric, label)
);

COMMENT ON TABLE oncehook.webhook_totals IS 'What retention has deleted, so that the counters of webhook_metrics never fall.';

-- Views

CREATE VIEW oncehook.webhook_ledger AS
 SELECT e.id,
    e.idempotency_key,
    e.source,
    e.event_type,
    e.external_id,
    e.object_id,
        CASE
            WHEN e.status = 'processing'::text AND e.locked_until < now() THEN 'lapsed'::text
            ELSE e.status
        END AS status,
    e.attempts,
    e.attempts - e.replays + COALESCE(d.deliveries, 0::bigint) AS deliveries,
    COALESCE(d.mismatches, 0::bigint) AS mismatches,
    e.overruns,
    e.first_seen_at,
    GREATEST(e.claimed_at, d.last_seen_at) AS last_seen_at,
    e.claimed_at,
    e.locked_until,
    e.next_attempt_at,
    e.processed_at,
    e.workflow,
    e.execution_id,
    e.error
   FROM oncehook.webhook_events e
     LEFT JOIN LATERAL ( SELECT count(*) AS deliveries,
            count(*) FILTER (WHERE w.outcome = 'mismatch'::text) AS mismatches,
            max(w.received_at) AS last_seen_at
           FROM oncehook.webhook_duplicates w
          WHERE w.event_id = e.id) d ON true;

CREATE VIEW oncehook.webhook_metrics AS
 WITH counted(source, metric, label, count) AS (
         SELECT webhook_events.source,
            'webhook_events_total'::text AS "?column?",
            ''::text AS "?column?",
            count(*) AS count
           FROM oncehook.webhook_events
          GROUP BY webhook_events.source
        UNION ALL
         SELECT webhook_duplicates.source,
            'webhook_duplicates_total'::text,
            webhook_duplicates.outcome,
            count(*) AS count
           FROM oncehook.webhook_duplicates
          GROUP BY webhook_duplicates.source, webhook_duplicates.outcome
        UNION ALL
         SELECT webhook_rejections.source,
            'webhook_rejections_total'::text,
            webhook_rejections.reason,
            sum(webhook_rejections.count)::bigint AS sum
           FROM oncehook.webhook_rejections
          GROUP BY webhook_rejections.source, webhook_rejections.reason
        UNION ALL
         SELECT webhook_dead_letters.source,
            'webhook_dead_letters_total'::text,
            webhook_dead_letters.kind,
            count(*) AS count
           FROM oncehook.webhook_dead_letters
          GROUP BY webhook_dead_letters.source, webhook_dead_letters.kind
        UNION ALL
         SELECT webhook_totals.source,
            webhook_totals.metric,
            webhook_totals.label,
            webhook_totals.count
           FROM oncehook.webhook_totals
        )
 SELECT counted.metric,
    'counter'::text AS type,
    counted.source,
    counted.label,
    sum(counted.count)::double precision AS value
   FROM counted
  GROUP BY counted.metric, counted.source, counted.label
UNION ALL
 SELECT 'webhook_events'::text AS metric,
    'gauge'::text AS type,
    webhook_events.source,
    webhook_events.status AS label,
    count(*)::double precision AS value
   FROM oncehook.webhook_events
  GROUP BY webhook_events.source, webhook_events.status
UNION ALL
 SELECT 'webhook_dead_letters'::text AS metric,
    'gauge'::text AS type,
    webhook_dead_letters.source,
    webhook_dead_letters.kind AS label,
    count(*)::double precision AS value
   FROM oncehook.webhook_dead_letters
  WHERE webhook_dead_letters.resolved_at IS NULL
  GROUP BY webhook_dead_letters.source, webhook_dead_letters.kind
UNION ALL
 SELECT 'webhook_lapsed_claims'::text AS metric,
    'gauge'::text AS type,
    webhook_events.source,
    ''::text AS label,
    count(*)::double precision AS value
   FROM oncehook.webhook_events
  WHERE webhook_events.next_attempt_at IS NOT NULL AND webhook_events.status = 'processing'::text AND webhook_events.locked_until < now()
  GROUP BY webhook_events.source
UNION ALL
 SELECT 'webhook_oldest_unprocessed_seconds'::text AS metric,
    'gauge'::text AS type,
    webhook_events.source,
    ''::text AS label,
    EXTRACT(epoch FROM now() - min(webhook_events.first_seen_at))::double precision AS value
   FROM oncehook.webhook_events
  WHERE webhook_events.next_attempt_at IS NOT NULL
  GROUP BY webhook_events.source;

-- Functions

CREATE OR REPLACE FUNCTION oncehook.audit(d oncehook.delivery)
 RETURNS oncehook.delivery
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  stored jsonb;
BEGIN
  d.refused := 'duplicate';
  IF d.event_id IS NULL THEN
    SELECT e.id, e.status, e.body_sha256 INTO d.event_id, d.status, d.taken_sha256
      FROM oncehook.webhook_events e WHERE e.idempotency_key = d.key;
    IF NOT FOUND THEN
      RETURN d; -- its event was final, and retention took it in this very moment
    END IF;
  END IF;
  IF d.taken_sha256 <> d.body_sha256 THEN
    d.refused := 'mismatch';
    IF d.volatile <> '[]' THEN
      SELECT e.payload INTO stored FROM oncehook.webhook_events e WHERE e.id = d.event_id;
      IF oncehook.without(stored, d.volatile) = oncehook.without(d.payload, d.volatile) THEN
        d.refused := 'duplicate';
      END IF;
    END IF;
  END IF;
  INSERT INTO oncehook.webhook_duplicates (event_id, source, source_ip, outcome, body_sha256, body)
    VALUES (d.event_id, d.source, d.sender, d.refused, d.body_sha256, CASE WHEN d.refused = 'mismatch' THEN d.body END);
  RETURN d;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.backoff(attempts integer)
 RETURNS interval
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  SELECT interval '30 seconds' * pg_catalog.power(2, least(attempts, 10)) * (0.5 + pg_catalog.random())
$function$;

CREATE OR REPLACE FUNCTION oncehook.body_text(body bytea)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN convert_from(body, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  IF position('\x00'::bytea IN body) > 0 THEN
    -- Byte by byte in hexadecimal, so that the pair 00 is met only where it is a byte.
    body := decode(replace(regexp_replace(encode(body, 'hex'), '(..)', '\1 ', 'g'), '00 ', '20 '), 'hex');
  END IF;
  RETURN convert_from(body, 'LATIN1');
END $function$;

CREATE OR REPLACE FUNCTION oncehook.compile_recipe(recipe text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
    plan := plan || jsonb_build_array(parts);
  END LOOP;
  RETURN nullif(plan, '[]');
END $function$;

CREATE OR REPLACE FUNCTION oncehook.evaluate(plan jsonb, headers jsonb, query jsonb, payload jsonb, doc json, body_sha256 bytea, mended boolean)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
          v := btrim(found_at #>> '{}');
        END IF;
      END IF;
      IF v IS NULL OR v = '' OR (mended AND strpos(v, U&'\FFFD') > 0) THEN
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.fail(source text, instance text, execution_id text, error text, last_node text, error_name text)
 RETURNS oncehook.transition
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  e record;
  result text;
BEGIN
  IF error_name = 'WorkflowCrashedError' THEN
    RETURN ROW('ignored', 'n8n reports a crash, which may be of a run that lives: the lease decides')::oncehook.transition;
  END IF;
  FOR e IN
    SELECT w.id, w.attempts >= s.max_attempts AS used_up
      FROM oncehook.webhook_events w JOIN oncehook.webhook_sources s ON s.id = w.source
      WHERE w.next_attempt_at IS NOT NULL AND w.status = 'processing'
        AND w.source = source AND w.instance = instance AND w.execution_id = execution_id
      FOR UPDATE OF w
  LOOP
    result := CASE WHEN last_node = 'Mark success' THEN 'success' WHEN e.used_up THEN 'dead' ELSE 'failed' END;
    UPDATE oncehook.webhook_events w
      SET status = result,
        error = CASE WHEN result = 'success' THEN NULL ELSE left(coalesce(error, 'unknown error'), 2000) END,
        processed_at = CASE WHEN result = 'success' THEN clock_timestamp() END,
        locked_until = CASE WHEN result = 'failed' THEN '-infinity'::timestamptz ELSE 'infinity' END,
        next_attempt_at = CASE WHEN result = 'failed' THEN clock_timestamp() + oncehook.backoff(w.attempts) END
      WHERE w.id = e.id;
    IF result = 'dead' THEN
      INSERT INTO oncehook.webhook_dead_letters
          (source, kind, event_id, idempotency_key, reason, content_type, headers, query, body, body_sha256, attempts)
        SELECT w.source, 'processing', w.id, w.idempotency_key, w.error, w.content_type, w.headers, w.query, w.body, w.body_sha256, w.attempts
          FROM oncehook.webhook_events w WHERE w.id = e.id
        ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
  RETURN ROW(coalesce(result, 'unknown'), CASE WHEN result IS NULL THEN 'this run held no event' END)::oncehook.transition;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.finish(key text, claim text)
 RETURNS oncehook.transition
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  hash constant bytea := sha256(convert_to(coalesce(claim, ''), 'UTF8'));
  e record;
BEGIN
  UPDATE oncehook.webhook_events w
    SET status = 'success', processed_at = clock_timestamp(), locked_until = 'infinity', next_attempt_at = NULL, error = NULL
    WHERE w.idempotency_key = key AND w.claim_hash = hash AND w.status IN ('processing', 'failed');
  IF FOUND THEN
    RETURN ROW('success', NULL)::oncehook.transition;
  END IF;
  SELECT w.id, w.status, w.claim_hash, w.claimed_at INTO e FROM oncehook.webhook_events w WHERE w.idempotency_key = key;
  IF NOT FOUND THEN
    RETURN ROW('unknown', 'no event of this key is in the ledger')::oncehook.transition;
  END IF;
  IF e.claim_hash = hash THEN
    RETURN ROW(e.status, CASE WHEN e.status <> 'success' THEN 'the event was closed before this run ended' END)::oncehook.transition;
  END IF;
  UPDATE oncehook.webhook_events w SET overruns = w.overruns + 1 WHERE w.id = e.id;
  RETURN ROW('overtaken', format(
    'this run took longer than its lease: another run claimed the event at %s (it is now %s). Give the source a longer lease',
    to_char(e.claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), e.status))::oncehook.transition;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.form(body bytea)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT coalesce(
    jsonb_object_agg(
      oncehook.url_decode(split_part(pair, '=', 1)),
      oncehook.url_decode(substr(pair, strpos(pair || '=', '=') + 1)) ORDER BY n),
    '{}')
  FROM regexp_split_to_table(oncehook.body_text(body), '&') WITH ORDINALITY AS y (pair, n)
  WHERE pair <> ''
$function$;

CREATE OR REPLACE FUNCTION oncehook.hmac_pad(key bytea, fill integer)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
  short bytea := CASE WHEN octet_length(key) > 64 THEN pg_catalog.sha256(key) ELSE key END;
  pad bytea := pg_catalog.decode(pg_catalog.repeat(pg_catalog.lpad(pg_catalog.to_hex(fill), 2, '0'), 64), 'hex');
BEGIN
  FOR i IN 0 .. octet_length(short) - 1 LOOP
    pad := pg_catalog.set_byte(pad, i, pg_catalog.get_byte(short, i) # fill);
  END LOOP;
  RETURN pad;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.idempotency_key(source text, value text, key_format text, production boolean)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN CASE WHEN production THEN '' ELSE 'test/' END || source || ':' ||
    CASE WHEN key_format = 'sha256' OR pg_catalog.octet_length(value) > 450 OR value LIKE 'sha256:%'
      THEN 'sha256:' || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(value, 'UTF8')), 'hex')
      ELSE value END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.mend_json(json_text text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  SELECT pg_catalog.replace(
    pg_catalog.regexp_replace(
      pg_catalog.regexp_replace(
        -- An escaped backslash steps aside first (a raw U+0001 cannot stand in valid JSON).
        pg_catalog.replace(pg_catalog.replace(pg_catalog.ltrim(json_text, U&'\FEFF'), '\\', E'\x01'), '\u0000', '\ufffd'),
        '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', '\\ufffd', 'g'),
      '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', '\\ufffd', 'g'),
    E'\x01', '\\')
$function$;

CREATE OR REPLACE FUNCTION oncehook.read_base64(encoded text)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN decode(encoded, 'base64');
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.read_body(body bytea, content_type text)
 RETURNS oncehook.reading
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.read_object(json_text text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  v jsonb;
BEGIN
  v := oncehook.mend_json(json_text)::jsonb;
  RETURN CASE WHEN jsonb_typeof(v) = 'object' THEN v ELSE '{}' END;
EXCEPTION WHEN OTHERS THEN
  RETURN '{}';
END $function$;

CREATE OR REPLACE FUNCTION oncehook.read_signature(written text, hex boolean, blind bytea)
 RETURNS bytea[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF hex THEN
    RETURN CASE WHEN written ~ '^[0-9a-fA-F]{64}$' THEN ARRAY[sha256(blind || decode(written, 'hex'))] ELSE '{}' END;
  END IF;
  RETURN CASE WHEN written ~ '^[A-Za-z0-9+/]{43}=$' THEN ARRAY[sha256(blind || decode(written, 'base64'))] ELSE '{}' END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.receive(source text, body text, headers text, query text, recipe text, mode text)
 RETURNS oncehook.delivery
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  d oncehook.delivery;
  r oncehook.reading;
  plan jsonb;
  doc json;
  value text;
BEGIN
  d.source := source;
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  IF NOT FOUND THEN
    d.refused := 'unavailable';
    d.reason := 'source not in the ledger: run `oncehook migrate`';
    RETURN d;
  END IF;
  d.ack := s.ack;
  d.answers := s.answers;
  IF NOT s.active THEN
    d.refused := 'rejected';
    d.reason := 'source switched off';
    RETURN d;
  END IF;

  BEGIN
    d.body := decode(body, 'base64');
    d.headers := headers::jsonb;
    d.query := query::jsonb;
  EXCEPTION WHEN OTHERS THEN
    d.body := oncehook.read_base64(body);
    d.headers := oncehook.read_object(headers);
    d.query := oncehook.read_object(query);
  END;
  d.body := coalesce(d.body, '');
  d.headers := coalesce(d.headers, '{}');

  d.reason := oncehook.verify(s, d.headers, d.body, now());
  IF d.reason IS NOT NULL THEN
    d.refused := 'rejected';
    RETURN d;
  END IF;

  d.content_type := d.headers ->> 'content-type';
  d.body_sha256 := sha256(d.body);
  -- The address is the one that a proxy added; without a proxy n8n tells none.
  d.sender := left(coalesce(d.headers ->> 'x-real-ip', substring(d.headers ->> 'x-forwarded-for' from '[^, ]+$')), 64);
  -- The common case in line: a block less than the general reading.
  BEGIN
    d.content := convert_from(d.body, 'UTF8');
    d.payload := d.content::jsonb;
    r.mended := false;
  EXCEPTION WHEN OTHERS THEN
    r := oncehook.read_body(d.body, d.content_type);
    d.content := r.content;
    d.payload := r.payload;
    IF d.payload IS NULL AND d.content IS NOT NULL THEN
      doc := d.content::json;
    END IF;
  END;

  plan := s.key_plan;
  IF recipe IS DISTINCT FROM s.key_recipe AND recipe IS NOT NULL THEN
    plan := oncehook.compile_recipe(recipe);
    IF plan IS NULL THEN
      d.refused := 'unavailable';
      d.reason := 'the recipe in the node Idempotency key cannot be read';
      RETURN d;
    END IF;
  END IF;
  value := oncehook.evaluate(plan, d.headers, d.query, d.payload, doc, d.body_sha256, r.mended);
  IF s.type_plan IS NOT NULL THEN
    d.event_type := left(oncehook.evaluate(s.type_plan, d.headers, d.query, d.payload, doc, d.body_sha256, r.mended), 512);
  END IF;
  IF s.object_plan IS NOT NULL THEN
    d.object_id := left(oncehook.evaluate(s.object_plan, d.headers, d.query, d.payload, doc, d.body_sha256, r.mended), 512);
  END IF;
  d.headers := oncehook.redact(d.headers, s.signature);
  d.query := oncehook.redact(d.query, s.signature);
  IF value IS NULL THEN
    d.refused := 'unkeyed';
    d.reason := CASE WHEN body IS NULL THEN 'no body that n8n could hand on byte for byte'
      WHEN d.payload IS NULL AND doc IS NULL THEN 'no id in the headers, and no body'
      ELSE 'no stable id where the recipe looks' END;
    RETURN d;
  END IF;
  d.key := oncehook.idempotency_key(s.id, value, s.key_format, mode = 'production');
  d.external_id := CASE WHEN s.key_format = 'plain' THEN left(value, 512) END;

  SELECT e.id, e.status, e.body_sha256 INTO d.event_id, d.status, d.taken_sha256
    FROM oncehook.webhook_events e WHERE e.idempotency_key = d.key AND e.locked_until >= now();
  IF FOUND THEN
    d.refused := 'taken';
    d.volatile := s.volatile;
    -- An audit row may be lost with the server; the claim that it tells of is on disk already.
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN d;
  END IF;

  d.volatile := s.volatile;
  d.token := gen_random_uuid()::text;
  d.claim_hash := sha256(convert_to(d.token, 'UTF8'));
  d.locked_until := now() + s.lease;
  -- What is acknowledged must be on disk, whatever this database's default is.
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN d;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.redact(named jsonb, signature jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  secret_names text[] := ARRAY['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'apikey',
    'x-auth-token', 'token', 'access_token', 'secret', 'password', 'key'];
  name text;
BEGIN
  IF signature ->> 'scheme' = 'token' THEN
    secret_names := secret_names || (signature ->> 'header');
  END IF;
  IF named ?| secret_names THEN
    FOREACH name IN ARRAY secret_names LOOP
      IF named ? name THEN
        named := jsonb_set(named, ARRAY[name], '"[redacted]"');
      END IF;
    END LOOP;
  END IF;
  RETURN named;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.refuse_transition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'oncehook: % may take an event whose lock has ended, and do nothing else to it', current_user
    USING ERRCODE = 'insufficient_privilege';
END $function$;

CREATE OR REPLACE FUNCTION oncehook.replay(event_id text, source text, workflow text, execution_id text, instance text)
 RETURNS oncehook.answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  a oncehook.answer;
  r oncehook.reading;
  e oncehook.webhook_events;
  token constant text := gen_random_uuid()::text;
BEGIN
  a.source := source;
  a.content_type := 'application/json; charset=utf-8';
  a.code := 200;
  IF event_id ~ '^[0-9]{1,18}$' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
    UPDATE oncehook.webhook_events w
      SET status = 'processing', attempts = w.attempts + 1, replays = w.replays + 1, claim_hash = sha256(convert_to(token, 'UTF8')), claimed_at = now(),
        locked_until = now() + s.lease, next_attempt_at = now() + s.lease,
        workflow = workflow, execution_id = execution_id, instance = instance
      FROM oncehook.webhook_sources s
      WHERE s.id = w.source AND w.id = event_id::bigint AND w.source = source AND w.locked_until < now()
      RETURNING w.* INTO e;
  END IF;
  IF e.id IS NULL THEN
    SELECT w.* INTO e FROM oncehook.webhook_events w
      WHERE w.source = source AND w.id = CASE WHEN event_id ~ '^[0-9]{1,18}$' THEN event_id::bigint END;
    a.outcome := CASE WHEN e.id IS NULL THEN 'unavailable' ELSE 'duplicate' END;
    a.reason := CASE WHEN e.id IS NULL THEN 'no such event of this source' ELSE 'final, or held by another run' END;
    a.key := e.idempotency_key;
    a.status := e.status;
    a.event_id := e.id;
    RETURN a;
  END IF;
  r := oncehook.read_body(e.body, e.content_type);
  a.outcome := 'reclaimed';
  a.key := e.idempotency_key;
  a.claim := token;
  a.attempts := e.attempts;
  a.status := e.status;
  a.event_id := e.id;
  a.type := e.event_type;
  a.external_id := e.external_id;
  a.object_id := e.object_id;
  a.first_seen_at := e.first_seen_at;
  a.body := r.content;
  a.headers := e.headers;
  a.query := e.query;
  a.answer := '{"ok":true,"duplicate":false,"key":' || to_json(e.idempotency_key) || '}';
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report(d oncehook.delivery, event_id bigint, attempts integer)
 RETURNS oncehook.answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  a oncehook.answer;
BEGIN
  a.code := 200;
  a.key := d.key;
  a.source := d.source;
  a.attempts := attempts;
  IF attempts IS NOT NULL THEN
    a.outcome := CASE WHEN attempts = 1 THEN 'new' ELSE 'reclaimed' END;
    a.status := 'processing';
    a.claim := d.token;
    a.event_id := event_id;
    a.type := d.event_type;
    a.external_id := d.external_id;
    a.object_id := d.object_id;
    a.first_seen_at := now();
    a.body := d.content;
    a.headers := d.headers;
    a.query := d.query;
    a.answer := '{"ok":true,"duplicate":false,"key":' || to_json(d.key) || '}';
    IF attempts > 1 THEN
      -- The work goes on with what came now, so that is what the ledger must hold. The token in the
      -- condition keeps n8n's role from changing an event that it has not taken.
      UPDATE oncehook.webhook_events e
        SET body = d.body, body_sha256 = d.body_sha256, payload = d.payload, content_type = d.content_type,
          headers = d.headers, query = d.query, event_type = d.event_type, object_id = d.object_id
        WHERE e.id = event_id AND e.claim_hash = sha256(convert_to(d.token, 'UTF8')) RETURNING e.first_seen_at INTO a.first_seen_at;
    END IF;
  ELSIF d.refused IS NULL OR d.refused = 'taken' THEN
    d := oncehook.audit(d);
    a.outcome := d.refused;
    a.event_id := d.event_id;
    a.status := coalesce(d.status, 'success');
    a.answer := '{"ok":true,"duplicate":true,"message":"event already accepted","key":' || to_json(d.key)
      || ',"status":' || to_json(a.status) || CASE WHEN a.outcome = 'mismatch' THEN ',"mismatch":true' ELSE '' END || '}';
    IF d.ack = 'after-success' AND a.status = 'processing' THEN
      -- The first run is still going and has not answered: this sender's retry is the plan.
      a.code := 503;
      a.retry_after := 10;
      a.answer := '{"ok":false,"duplicate":true,"error":"still processing","key":' || to_json(d.key) || '}';
    END IF;
  ELSIF d.refused = 'unkeyed' THEN
    a.outcome := 'unkeyed';
    a.reason := d.reason;
    a.answer := '{"ok":true,"quarantined":true}';
    INSERT INTO oncehook.webhook_dead_letters AS q (source, kind, reason, content_type, headers, query, body, body_sha256)
      VALUES (d.source, 'reception', d.reason, d.content_type, d.headers, d.query, d.body, d.body_sha256)
      ON CONFLICT (source, body_sha256) WHERE q.event_id IS NULL
      DO UPDATE SET deliveries = q.deliveries + 1, last_seen_at = now();
  ELSIF d.refused = 'rejected' THEN
    a.outcome := 'rejected';
    a.code := 401;
    a.reason := d.reason;
    a.answer := '{"ok":false,"error":' || to_json(d.reason) || '}';
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO oncehook.webhook_rejections AS r (source, reason, hour, shard)
      VALUES (d.source, d.reason, date_trunc('hour', now()), floor(random() * 16))
      ON CONFLICT (source, reason, hour, shard) DO UPDATE SET count = r.count + 1;
  ELSE
    a.outcome := 'unavailable';
    a.code := 503;
    a.retry_after := 60;
    a.reason := d.reason;
    a.answer := '{"ok":false,"error":"unavailable"}';
    RETURN a;
  END IF;
  -- The provider's own wording, where its file has one for this outcome. A 503 is not negotiable.
  IF d.answers ? a.outcome AND a.code <> 503 THEN
    a.code := coalesce((d.answers -> a.outcome ->> 'status')::int, a.code);
    a.answer := coalesce(d.answers -> a.outcome ->> 'body', a.answer);
    a.content_type := d.answers -> a.outcome ->> 'content_type';
  END IF;
  a.content_type := coalesce(a.content_type, 'application/json; charset=utf-8');
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.url_decode(encoded text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.verify(s oncehook.webhook_sources, headers jsonb, body bytea, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  scheme constant text := s.signature ->> 'scheme';
  header constant text := headers ->> (s.signature ->> 'header');
  pairs constant jsonb := s.signature -> 'pairs';
  stamp_rule constant jsonb := s.signature -> 'timestamp';
  parts constant jsonb := s.signature -> 'signed';
  hex constant boolean := s.signature ->> 'encoding' = 'hex';
  prefix text;
  stamp text;
  item text;
  cut int;
  given bytea[] := '{}';
  blind constant bytea := uuid_send(gen_random_uuid());
  message bytea := '';
  age numeric;
BEGIN
  IF scheme = 'none' THEN
    RETURN NULL;
  END IF;
  IF header IS NULL OR header = '' THEN
    RETURN 'signature missing';
  END IF;
  prefix := s.signature ->> 'prefix';
  IF scheme = 'token' THEN
    IF prefix IS NOT NULL AND left(header, length(prefix)) <> prefix THEN
      RETURN 'token wrong';
    END IF;
    PERFORM FROM oncehook.webhook_secrets k
      WHERE k.source_id = s.id AND k.retired_at IS NULL
        AND k.digest = sha256(convert_to(substr(header, length(coalesce(prefix, '')) + 1), 'UTF8'));
    RETURN CASE WHEN FOUND THEN NULL ELSE oncehook.why_refused(s.id, 'token wrong') END;
  END IF;
  IF scheme <> 'hmac-sha256' THEN
    RETURN 'signature scheme unknown';
  END IF;

  -- The header's signatures. Each is kept as a hash under a number that the sender cannot know, so that
  -- how long a comparison takes tells nothing about the right one.
  IF pairs IS NOT NULL THEN
    IF length(header) > 8192 THEN
      RETURN 'signature wrong';
    END IF;
    FOREACH item IN ARRAY string_to_array(header, pairs ->> 'separator') LOOP
      item := btrim(item);
      cut := strpos(item, coalesce(pairs ->> 'equals', '='));
      IF left(item, cut - 1) = pairs ->> 'name' THEN
        given := given || oncehook.read_signature(substr(item, cut + 1), hex, blind);
      ELSIF stamp IS NULL AND left(item, cut - 1) = stamp_rule ->> 'pair' THEN
        stamp := substr(item, cut + 1);
      END IF;
    END LOOP;
  ELSIF prefix IS NULL THEN
    given := given || oncehook.read_signature(btrim(header), hex, blind);
  ELSIF left(header, length(prefix)) = prefix THEN
    given := given || oncehook.read_signature(btrim(substr(header, length(prefix) + 1)), hex, blind);
  END IF;
  IF stamp_rule ? 'header' THEN
    stamp := headers ->> (stamp_rule ->> 'header');
  END IF;
  IF stamp_rule IS NOT NULL AND (stamp IS NULL OR stamp !~ '^[0-9]{1,15}$') THEN
    RETURN 'signature without a timestamp';
  END IF;

  FOR i IN 0 .. jsonb_array_length(parts) - 1 LOOP
    item := parts ->> i;
    IF item = '{body}' THEN
      message := message || body;
    ELSE
      IF item = '{timestamp}' THEN
        item := stamp;
      ELSIF left(item, 8) = '{header.' THEN
        item := headers ->> btrim(substr(item, 9), '}');
        IF item IS NULL THEN
          RETURN 'signature missing';
        END IF;
      END IF;
      message := message || convert_to(item, 'UTF8');
    END IF;
  END LOOP;

  PERFORM FROM oncehook.webhook_secrets k
    WHERE k.source_id = s.id AND k.retired_at IS NULL
      AND sha256(blind || sha256(k.outer_pad || sha256(k.inner_pad || message))) = ANY (given);
  IF NOT FOUND THEN
    RETURN oncehook.why_refused(s.id, 'signature wrong');
  END IF;
  IF stamp_rule IS NOT NULL AND s.tolerance_seconds IS NOT NULL THEN
    age := extract(epoch FROM at) - stamp::numeric / CASE WHEN stamp_rule ->> 'unit' = 'ms' THEN 1000 ELSE 1 END;
    IF age > s.tolerance_seconds OR (stamp_rule ->> 'future' = 'refuse' AND -age > s.tolerance_seconds) THEN
      RETURN 'signature expired';
    END IF;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.why_refused(source_id text, otherwise text)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT CASE WHEN EXISTS (SELECT FROM oncehook.webhook_secrets k WHERE k.source_id = why_refused.source_id AND k.retired_at IS NULL)
    THEN otherwise ELSE 'no secret stored' END
$function$;

CREATE OR REPLACE FUNCTION oncehook.without(payload jsonb, paths jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  FOR i IN 0 .. jsonb_array_length(paths) - 1 LOOP
    payload := payload #- ARRAY(SELECT jsonb_array_elements_text(paths -> i));
  END LOOP;
  RETURN payload;
END $function$;

-- Grants

GRANT EXECUTE ON FUNCTION oncehook.fail(source text, instance text, execution_id text, error text, last_node text, error_name text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.finish(key text, claim text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.receive(source text, body text, headers text, query text, recipe text, mode text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.replay(event_id text, source text, workflow text, execution_id text, instance text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.report(d oncehook.delivery, event_id bigint, attempts integer) TO oncehook_n8n;

GRANT USAGE ON SCHEMA oncehook TO oncehook_n8n;

GRANT INSERT (idempotency_key, source, event_type, external_id, object_id, claim_hash, claimed_at, locked_until, next_attempt_at, workflow, execution_id, instance, content_type, headers, query, body, body_sha256, payload) ON TABLE oncehook.webhook_events TO oncehook_n8n;
GRANT SELECT (id, idempotency_key, attempts, claim_hash, claimed_at, locked_until, next_attempt_at, workflow, execution_id, instance) ON TABLE oncehook.webhook_events TO oncehook_n8n;
GRANT UPDATE (status, attempts, claim_hash, claimed_at, locked_until, next_attempt_at, workflow, execution_id, instance) ON TABLE oncehook.webhook_events TO oncehook_n8n;
