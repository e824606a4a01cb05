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

CREATE TYPE oncehook.claim AS (
  key text,
  source text,
  event_type text,
  external_id text,
  object_id text,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea,
  body_sha256 bytea,
  payload jsonb,
  claim_hash bytea,
  locked_until timestamp with time zone,
  next_attempt_at timestamp with time zone
);

CREATE TYPE oncehook.cut AS (
  place integer[],
  lead text,
  doc json,
  tail text
);

CREATE TYPE oncehook.delivery AS (
  refused text,
  reason text,
  source text,
  key text,
  event_type text,
  object_id text,
  content_type text,
  body_sha256 bytea,
  damaged boolean,
  token text,
  sender text,
  event_id bigint,
  status text,
  taken_sha256 bytea,
  ack text,
  answers jsonb
);

CREATE TYPE oncehook.delivery_answer AS (
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
  query jsonb,
  fetch_by jsonb
);

CREATE TYPE oncehook.found_item AS (
  path integer,
  way text[],
  place integer[],
  body text
);

CREATE TYPE oncehook.item_answer AS (
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
  query jsonb,
  request_outcome text,
  request_code integer,
  request_answer text,
  request_content_type text
);

CREATE TYPE oncehook.item_claim AS (
  key text,
  source text,
  event_type text,
  external_id text,
  object_id text,
  content_type text,
  headers jsonb,
  query jsonb,
  body bytea,
  body_sha256 bytea,
  payload jsonb,
  item integer,
  claim_hash bytea,
  locked_until timestamp with time zone,
  next_attempt_at timestamp with time zone
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

CREATE TYPE oncehook.opened AS (
  refused text,
  reason text,
  raw bytea,
  headers jsonb,
  query jsonb,
  kept_headers jsonb,
  kept_query jsonb,
  content text,
  payload jsonb,
  damage text,
  sender text,
  answers jsonb
);

CREATE TYPE oncehook.reading AS (
  payload jsonb,
  content text,
  damage text,
  form boolean
);

CREATE TYPE oncehook.request AS (
  headers jsonb,
  query jsonb,
  body bytea,
  stamp text,
  payload jsonb,
  pairs jsonb,
  item jsonb
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
  CONSTRAINT webhook_duplicates_pkey PRIMARY KEY (event_id, id)
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
  item integer,
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
COMMENT ON COLUMN oncehook.webhook_events.item IS 'The place of the event in its request, where one request holds several: the order in which its run works on them.';

CREATE INDEX webhook_events_due ON oncehook.webhook_events USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE TRIGGER webhook_events_guard BEFORE UPDATE ON oncehook.webhook_events FOR EACH ROW WHEN (((NOT ((old.locked_until < now()) AND (new.locked_until < 'infinity'::timestamp with time zone) AND (new.status = 'processing'::text) AND (new.attempts = (old.attempts + 1)) AND (new.claim_hash IS DISTINCT FROM old.claim_hash))) AND (NOT has_table_privilege(CURRENT_USER, 'oncehook.webhook_events'::text, 'DELETE'::text)))) EXECUTE FUNCTION oncehook.refuse_transition();
CREATE TRIGGER webhook_events_guards AFTER DELETE ON oncehook.webhook_events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION oncehook.forget_guards();

CREATE TABLE oncehook.webhook_guards (
  source text NOT NULL,
  test boolean NOT NULL,
  body_sha256 bytea NOT NULL,
  idempotency_key text NOT NULL,
  first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT webhook_guards_pkey PRIMARY KEY (source, test, body_sha256)
);

COMMENT ON TABLE oncehook.webhook_guards IS 'Which event each body belongs to, for sources with a guard: the same body under another id is that event again.';
COMMENT ON COLUMN oncehook.webhook_guards.test IS 'Whether it came by n8n''s test URL, whose keys are a space of their own.';

CREATE INDEX webhook_guards_key ON oncehook.webhook_guards USING btree (idempotency_key);

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
  digest bytea GENERATED ALWAYS AS (sha256(secret)) STORED NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  retired_at timestamp with time zone,
  CONSTRAINT webhook_secrets_pkey PRIMARY KEY (source_id, name),
  CONSTRAINT webhook_secrets_source_id_fkey FOREIGN KEY (source_id) REFERENCES oncehook.webhook_sources(id) ON DELETE CASCADE,
  CONSTRAINT webhook_secrets_secret_check CHECK ((octet_length(secret) > 0))
);

COMMENT ON TABLE oncehook.webhook_secrets IS 'Signing secrets, several live per source while one is being rotated. No role but the owner reads this table.';

CREATE TRIGGER webhook_secrets_pads AFTER INSERT OR DELETE OR UPDATE ON oncehook.webhook_secrets FOR EACH ROW EXECUTE FUNCTION oncehook.copy_pads();

CREATE TABLE oncehook.webhook_sources (
  id text NOT NULL,
  name text NOT NULL,
  provider text NOT NULL,
  signature jsonb NOT NULL,
  signed_before text GENERATED ALWAYS AS (oncehook.signed_text(signature, false)) STORED,
  signed_after text GENERATED ALWAYS AS (oncehook.signed_text(signature, true)) STORED,
  header_separator text GENERATED ALWAYS AS (COALESCE((signature #>> '{pairs,separator}'::text[]), ''::text)) STORED,
  mac_lead text GENERATED ALWAYS AS (oncehook.header_lead(signature, '{pairs,name}'::text[])) STORED,
  stamp_lead text GENERATED ALWAYS AS (oncehook.header_lead(signature, '{timestamp,pair}'::text[])) STORED,
  signature_header text GENERATED ALWAYS AS ((signature ->> 'header'::text)) STORED,
  mac_encoding text GENERATED ALWAYS AS (
CASE
    WHEN ((tolerance_seconds IS NOT NULL) OR (NOT (signature ? 'timestamp'::text))) THEN oncehook.usual_encoding(signature)
    ELSE NULL::text
END) STORED,
  credential_names text[] GENERATED ALWAYS AS (oncehook.credential_names(signature)) STORED NOT NULL,
  key_recipe text NOT NULL,
  key_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(key_recipe)) STORED NOT NULL,
  key_path text[] GENERATED ALWAYS AS (oncehook.lone_body_path(key_recipe)) STORED,
  key_format text DEFAULT 'plain'::text NOT NULL,
  type_recipe text,
  type_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(type_recipe)) STORED,
  type_path text[] GENERATED ALWAYS AS (oncehook.lone_body_path(type_recipe)) STORED,
  object_recipe text,
  object_plan jsonb GENERATED ALWAYS AS (oncehook.compile_recipe(object_recipe)) STORED,
  object_path text[] GENERATED ALWAYS AS (oncehook.lone_body_path(object_recipe)) STORED,
  volatile jsonb DEFAULT '[]'::jsonb NOT NULL,
  tolerance_seconds integer,
  lease interval DEFAULT '00:15:00'::interval NOT NULL,
  max_attempts integer DEFAULT 8 NOT NULL,
  retention interval DEFAULT '90 days'::interval NOT NULL,
  ack text DEFAULT 'after-claim'::text NOT NULL,
  answers jsonb DEFAULT '{}'::jsonb NOT NULL,
  rules jsonb,
  active boolean DEFAULT true NOT NULL,
  inner_pads bytea[] DEFAULT '{}'::bytea[] NOT NULL,
  outer_pads bytea[] DEFAULT '{}'::bytea[] NOT NULL,
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
  CONSTRAINT webhook_sources_rules_check CHECK ((jsonb_typeof(rules) = 'object'::text)),
  CONSTRAINT webhook_sources_signature_check CHECK ((signature ? 'scheme'::text)),
  CONSTRAINT webhook_sources_tolerance_seconds_check CHECK ((tolerance_seconds > 0)),
  CONSTRAINT webhook_sources_volatile_check CHECK ((jsonb_typeof(volatile) = 'array'::text))
);

COMMENT ON TABLE oncehook.webhook_sources IS 'One row a configured endpoint. Its id never changes: it begins every idempotency key.';
COMMENT ON COLUMN oncehook.webhook_sources.volatile IS 'Body paths that the provider changes from one delivery to the next: left out when bodies are compared.';
COMMENT ON COLUMN oncehook.webhook_sources.rules IS 'What few senders need: `handshakes`, `questions`, `guard`, `items`, `fetch`. NULL for all others, whose deliveries then cost nothing more.';
COMMENT ON COLUMN oncehook.webhook_sources.active IS 'False once the source left the configuration: its deliveries are rejected.';
COMMENT ON COLUMN oncehook.webhook_sources.inner_pads IS 'Kept by triggers on webhook_secrets and webhook_sources; one for each live secret, whatever the scheme.';

CREATE TRIGGER webhook_sources_pads BEFORE UPDATE OF signature ON oncehook.webhook_sources FOR EACH ROW EXECUTE FUNCTION oncehook.renew_pads();

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

CREATE OR REPLACE FUNCTION oncehook.answer_as(a oncehook.answer, answers jsonb)
 RETURNS oncehook.answer
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
  IF answers ? a.outcome AND a.code <> 503 THEN
    a.code := coalesce((answers -> a.outcome ->> 'status')::int, a.code);
    a.answer := coalesce(answers -> a.outcome ->> 'body', a.answer);
    a.content_type := coalesce(answers -> a.outcome ->> 'content_type', a.content_type);
  END IF;
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.any_key_holds(s oncehook.webhook_sources, given text[], encoding text, message bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  written text;
  key bytea;
  mac bytea;
BEGIN
  FOREACH written IN ARRAY given[:4] LOOP
    mac := oncehook.read_bytes(written, encoding);
    CONTINUE WHEN mac IS NULL OR message IS NULL;
    FOR key IN SELECT k.secret FROM oncehook.webhook_secrets k
      WHERE k.source_id = s.id AND k.retired_at IS NULL ORDER BY k.created_at DESC, k.name LOOP
      IF oncehook.key_holds(s.signature, key, message, mac) THEN
        RETURN true;
      END IF;
    END LOOP;
  END LOOP;
  RETURN false;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.any_mac(given text[], macs text[], encoding text, blind bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.backoff(attempts integer)
 RETURNS interval
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  SELECT interval '30 seconds' * pg_catalog.power(2, least(attempts, 10)) * (0.5 + pg_catalog.random())
$function$;

CREATE OR REPLACE FUNCTION oncehook.bits_of(n numeric)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  bits text := '';
BEGIN
  FOR i IN 1 .. 8 LOOP
    bits := substr((n % 4294967296)::bigint::bit(64)::text, 33) || bits;
    n := div(n, 4294967296);
  END LOOP;
  RETURN bits;
END $function$;

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
    -- Once a backslash is written as \134, too, every \000 is a NUL.
    body := decode(replace(replace(encode(body, 'escape'), '\\', '\134'), '\000', E'\x1a'), 'escape');
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.condition_holds(q oncehook.request, condition jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  found_at jsonb := CASE condition ->> 'from' WHEN 'header' THEN q.headers -> (condition #>> '{path,0}')
    WHEN 'query' THEN q.query -> (condition #>> '{path,0}') ELSE q.payload #> oncehook.steps(condition -> 'path') END;
  present boolean := coalesce(jsonb_typeof(found_at) <> 'null', false);
BEGIN
  RETURN CASE condition ->> 'is'
    WHEN 'present' THEN present
    WHEN 'absent' THEN NOT present
    WHEN 'empty' THEN coalesce(found_at IN ('""', '[]', '{}'), false)
    WHEN 'value' THEN coalesce(
      jsonb_typeof(found_at) IN ('string', 'number', 'boolean') AND found_at #>> '{}' = condition ->> 'value', false)
    ELSE false END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.copy_pads()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  UPDATE oncehook.webhook_sources s
    SET inner_pads = oncehook.live_pads(s.id, s.signature, 54), outer_pads = oncehook.live_pads(s.id, s.signature, 92)
    WHERE s.id IN (OLD.source_id, NEW.source_id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.crc32_of(bytes bytea)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  steps constant bigint[] := '{0,498536548,997073096,651767980,1994146192,1802195444,1303535960,1342533948,3988292384,4027552580,3604390888,3412177804,2607071920,2262029012,2685067896,3183342108}';
  crc bigint := 4294967295;
BEGIN
  IF octet_length(bytes) > 262144 THEN
    RETURN NULL;
  END IF;
  FOR i IN 0 .. octet_length(bytes) - 1 LOOP
    crc := crc # get_byte(bytes, i);
    crc := (crc >> 4) # steps[(crc & 15) + 1];
    crc := (crc >> 4) # steps[(crc & 15) + 1];
  END LOOP;
  RETURN crc # 4294967295;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.credential_names(signature jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  names text[] := ARRAY['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'apikey', 'api_key',
    'x-auth-token', 'token', 'Token', 'access_token', 'accessToken', 'apiKey', 'secret', 'password'];
BEGIN
  RETURN CASE WHEN signature ->> 'scheme' = 'token' THEN array_remove(names || (signature ->> 'header') || (signature ->> 'query'), NULL)
    ELSE names END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.cut_body(content json, steps text[])
 RETURNS oncehook.cut[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  step text;
  cuts oncehook.cut[] := ARRAY[ROW('{}', '', content, '')::oncehook.cut];
  elements bigint;
  size bigint;
BEGIN
  FOREACH step IN ARRAY steps LOOP
    IF step IS NULL THEN
      cuts := ARRAY(SELECT c FROM unnest(cuts) c WHERE json_typeof(c.doc) = 'array');
      SELECT sum(json_array_length(c.doc)),
          sum(octet_length(c.doc::text) + json_array_length(c.doc) * (octet_length(c.lead) + octet_length(c.tail))::bigint)
        INTO elements, size FROM unnest(cuts) c;
      IF elements > 1000 OR size > 33554432 THEN
        RETURN NULL;
      END IF;
      cuts := ARRAY(
        SELECT ROW(c.place || x.n::int, c.lead || '[', x.element, ']' || c.tail)::oncehook.cut
        FROM unnest(cuts) c, json_array_elements(c.doc) WITH ORDINALITY AS x (element, n));
    ELSE
      cuts := ARRAY(
        SELECT ROW(c.place, c.lead || '{' || x.before || to_json(step)::text || ':', x.doc, x.after || '}' || c.tail)::oncehook.cut
        FROM unnest(ARRAY(SELECT o FROM unnest(cuts) o WHERE json_typeof(o.doc) = 'object')) c, LATERAL (
          SELECT coalesce(string_agg(to_json(f.key)::text || ':' || f.value::text || ',', '' ORDER BY f.n) FILTER (WHERE f.n < f.place), '') AS before,
            coalesce(string_agg(',' || to_json(f.key)::text || ':' || f.value::text, '' ORDER BY f.n) FILTER (WHERE f.n > f.place), '') AS after,
            c.doc -> step AS doc
          FROM (SELECT p.*, max(p.n) FILTER (WHERE p.key = step) OVER () AS place
            FROM json_each(c.doc) WITH ORDINALITY AS p (key, value, n)) f
          WHERE f.key <> step
        ) x WHERE x.doc IS NOT NULL);
    END IF;
  END LOOP;
  RETURN cuts;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.delivered_bytes(damaged boolean)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN CASE WHEN damaged THEN decode(current_setting('oncehook.body'), 'base64') ELSE convert_to(current_setting('oncehook.body'), 'UTF8') END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.delivered_object(setting text, source text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
BEGIN
  RETURN (SELECT oncehook.redact(oncehook.read_object(current_setting(setting)), s.credential_names)
    FROM oncehook.webhook_sources s WHERE s.id = source);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.der_pair(der bytea)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  size int := octet_length(der);
  at int := 2;
  long int;
  number bytea;
  pair bytea := '';
BEGIN
  IF size NOT BETWEEN 8 AND 72 THEN
    RETURN NULL;
  ELSIF substr(der, 1, 2) <> decode('30' || lpad(to_hex(size - 2), 2, '0'), 'hex') THEN
    RETURN NULL;
  END IF;
  FOR i IN 1 .. 2 LOOP
    IF at + 3 > size THEN
      RETURN NULL;
    END IF;
    long := get_byte(der, at + 1);
    number := substr(der, at + 3, long);
    IF get_byte(der, at) <> 2 OR long NOT BETWEEN 1 AND 33 OR octet_length(number) <> long THEN
      RETURN NULL;
    ELSIF get_byte(number, 0) > 127 THEN
      RETURN NULL; -- below zero
    ELSIF get_byte(number, 0) = 0 AND long > 1 THEN
      number := substr(number, 2);
      IF get_byte(number, 0) < 128 THEN
        RETURN NULL; -- a zero too many
      END IF;
    END IF;
    IF octet_length(number) > 32 THEN
      RETURN NULL;
    END IF;
    pair := pair || decode(repeat('00', 32 - octet_length(number)), 'hex') || number;
    at := at + 2 + long;
  END LOOP;
  RETURN CASE WHEN at = size THEN pair END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.durably()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.ed25519_holds(key bytea, message bytea, mac bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  p constant numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
  l constant numeric := 7237005577332262213973186563042994240857116359379907606001950938285454250989;
  d2 constant numeric := 16295367250680780974490674513165176452449235426866156013048779062215315747161;
  px numeric[] := '{15112221349535400772501151409588531511454012693041857206046113283949847762202}';
  py numeric[] := '{46316835694926478169428394003475163141307993866256225615783033603165251855960}';
  pz numeric[];
  pt numeric[];
  s numeric;
  bits text;
  more text;
  x numeric;
  y numeric;
  z numeric;
  t numeric;
  a numeric;
  b numeric;
  c numeric;
  d numeric;
  j int;
BEGIN
  IF octet_length(key) <> 32 OR octet_length(mac) <> 64 THEN
    RETURN false;
  END IF;
  s := oncehook.number_of_reversed(substr(mac, 33));
  y := oncehook.number_of_reversed(set_byte(key, 31, get_byte(key, 31) & 127));
  x := oncehook.ed25519_x(y, get_byte(key, 31) >> 7);
  IF s >= l OR x IS NULL THEN
    RETURN false;
  END IF;
  -- The table: B, -A, and their sum.
  px := px || (p - x) || NULL;
  py := py || y || NULL;
  pz := ARRAY[1, 1, NULL];
  pt := ARRAY[px[1] * py[1] % p, px[2] * py[2] % p, NULL];
  a := (py[1] - px[1]) * (py[2] - px[2]) % p;
  b := (py[1] + px[1]) * (py[2] + px[2]) % p;
  c := pt[1] * d2 % p * pt[2] % p;
  px[3] := (b - a) * (2 - c) % p;
  py[3] := (2 + c) * (b + a) % p;
  pt[3] := (b - a) * (b + a) % p;
  pz[3] := (2 - c) * (2 + c) % p;
  z := 1;
  FOR i IN 1 .. 3 LOOP -- eight times the key
    a := x * x % p; b := y * y % p; d := a + b; c := d - (x + y) * (x + y); t := 2 * z * z + (a - b);
    x := c * t % p; y := (a - b) * d % p; z := t * (a - b) % p;
  END LOOP;
  IF x = 0 THEN
    RETURN false;
  END IF;
  bits := oncehook.bits_of(s);
  more := oncehook.bits_of(oncehook.number_of_reversed(sha512(substr(mac, 1, 32) || key || message)) % l);
  x := 0; y := 1; z := 1; t := 0;
  FOR i IN 4 .. 256 LOOP
    a := x * x % p; b := y * y % p; d := a + b; c := d - (x + y) * (x + y); b := a - b; a := 2 * z * z + b;
    x := c * a % p; y := b * d % p; t := c * d % p; z := a * b % p;
    j := CASE substr(bits, i, 1) || substr(more, i, 1) WHEN '10' THEN 1 WHEN '01' THEN 2 WHEN '11' THEN 3 END;
    IF j IS NOT NULL THEN
      a := (y - x) * (py[j] - px[j]) % p; b := (y + x) * (py[j] + px[j]) % p;
      c := t * d2 % p * pt[j] % p; d := 2 * z * pz[j] % p;
      x := (b - a) * (d - c) % p; y := (d + c) * (b + a) % p; t := (b - a) * (b + a) % p; z := (d - c) * (d + c) % p;
    END IF;
  END LOOP;
  z := oncehook.inverse_of(z, p);
  x := (x * z % p + p) % p;
  y := (y * z % p + p) % p;
  RETURN oncehook.number_of_reversed(substr(mac, 1, 32))
    = y + CASE WHEN x % 2 = 1 THEN 57896044618658097711785492504343953926634992332820282019728792003956564819968 ELSE 0 END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.ed25519_x(y numeric, odd integer)
 RETURNS numeric
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  p constant numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
  d constant numeric := 37095705934669439343138083508754565189542113879843219016388785533085940283555;
  root constant numeric := 19681161376707505956807079304988542015446066515923890162744021073123829784752; -- of -1
  u numeric := (y * y - 1) % p;
  v numeric := (d * (y * y % p) + 1) % p;
  base numeric := (u * (v * v % p * v % p) % p) * (v * v % p * v % p * v % p) % p;
  x numeric;
BEGIN
  IF y >= p THEN
    RETURN NULL;
  END IF;
  -- (u v^7) to the (p-5)/8 = 2^252 - 3: 250 digits 1, then 01
  x := base;
  FOR i IN 2 .. 252 LOOP
    x := x * x % p;
    IF i <> 251 THEN
      x := x * base % p;
    END IF;
  END LOOP;
  x := (u * (v * v % p * v % p) % p * x % p + p) % p;
  IF (v * (x * x % p) - u) % p <> 0 THEN
    IF (v * (x * x % p) + u) % p <> 0 THEN
      RETURN NULL;
    END IF;
    x := x * root % p;
  END IF;
  RETURN CASE WHEN x % 2 = odd THEN x WHEN x > 0 THEN p - x END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.evaluate(plan jsonb, headers jsonb, query jsonb, payload jsonb, doc json, body_sha256 bytea, damage text)
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.exchange(s oncehook.webhook_sources, headers jsonb, query jsonb, body bytea, payload jsonb, reason text, mode text, OUT done boolean, OUT answers jsonb, OUT next_mode text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  is_get boolean := coalesce(right(mode, 4) = ' GET', false);
  q oncehook.request;
  d oncehook.delivery;
  rule jsonb;
BEGIN
  q.headers := headers;
  q.query := query;
  q.body := body;
  -- What is large and of nobody knows whom is not worth reading.
  q.payload := CASE WHEN reason IS NULL THEN payload
    WHEN octet_length(body) <= 65536 THEN (oncehook.read_body(body, headers ->> 'content-type')).payload END;
  FOR rule IN SELECT h FROM jsonb_array_elements(s.rules -> 'handshakes') WITH ORDINALITY AS x (h, n) ORDER BY n LOOP
    CONTINUE WHEN NOT oncehook.is_named(q, rule, is_get);
    reason := CASE WHEN rule ->> 'check' = 'none' THEN NULL
      WHEN rule ->> 'check' = 'signature' THEN reason
      WHEN NOT oncehook.shows_secret(s.id, q, rule -> 'check') THEN 'token of the handshake wrong' END;
    IF reason IS NULL THEN
      d.refused := 'handshake';
      d.reason := rule ->> 'name';
      answers := jsonb_build_object('handshake', oncehook.fill_answer(s.id, rule -> 'answer', q));
    END IF;
    EXIT;
  END LOOP;
  IF d.refused IS NULL AND reason IS NULL AND is_get THEN
    reason := 'GET request that is no handshake';
  END IF;
  IF reason IS NOT NULL THEN
    d.refused := 'rejected';
    d.reason := reason;
  ELSIF d.refused IS NULL THEN
    FOR rule IN SELECT h FROM jsonb_array_elements(s.rules -> 'questions') WITH ORDINALITY AS x (h, n) ORDER BY n LOOP
      CONTINUE WHEN NOT oncehook.is_named(q, rule, is_get);
      d.refused := 'question';
      d.reason := rule ->> 'name';
      d.content_type := headers ->> 'content-type';
      d.damaged := true; -- so its bytes are handed on
      answers := jsonb_build_object('question', oncehook.fill_answer(s.id, rule -> 'refuse', q));
      PERFORM set_config('oncehook.body', encode(body, 'base64'), true),
        set_config('oncehook.headers', headers::text, true), set_config('oncehook.query', query::text, true);
      EXIT;
    END LOOP;
  END IF;
  IF answers IS NULL THEN
    answers := CASE WHEN s.rules ? 'repeats'
      THEN (SELECT jsonb_object_agg(a.key, oncehook.fill_answer(s.id, a.value, q)) FROM jsonb_each(s.answers) a) ELSE s.answers END;
  END IF;
  done := d.refused IS NOT NULL;
  next_mode := CASE WHEN s.rules ? 'guard' THEN mode || ' guarded' ELSE mode END;
  IF done THEN
    d.source := s.id;
    d.answers := answers;
    PERFORM set_config('oncehook.delivery', d::text, true);
  END IF;
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
  told text;
BEGIN
  IF error_name = 'WorkflowCrashedError' THEN
    RETURN ROW('ignored', 'n8n reports a crash, which may be of a run that lives: the lease decides')::oncehook.transition;
  END IF;
  PERFORM oncehook.durably();
  FOR e IN
    SELECT l.id, l.used_up, l.item > min(l.item) OVER () AS waited
      FROM (
        SELECT w.id, w.item, w.attempts >= s.max_attempts AS used_up
          FROM oncehook.webhook_events w JOIN oncehook.webhook_sources s ON s.id = w.source
          WHERE w.next_attempt_at IS NOT NULL AND w.status = 'processing'
            AND w.source = source AND w.instance = instance AND w.execution_id = execution_id
          -- the order in which a request of several events takes them, so that the two never wait for each other
          ORDER BY w.idempotency_key COLLATE "C"
          FOR UPDATE OF w
      ) l
      ORDER BY l.item DESC NULLS LAST
  LOOP
    result := CASE WHEN e.waited THEN 'failed' WHEN last_node = 'Mark success' THEN 'success' WHEN e.used_up THEN 'dead' ELSE 'failed' END;
    told := CASE WHEN result <> 'success' THEN
      CASE WHEN e.waited THEN 'had no turn, for an earlier event of its request failed: ' ELSE '' END || coalesce(error, 'unknown error') END;
    UPDATE oncehook.webhook_events w
      SET status = result, error = left(told, 2000),
        processed_at = CASE WHEN result = 'success' THEN clock_timestamp() END,
        locked_until = CASE WHEN result = 'failed' THEN '-infinity'::timestamptz ELSE 'infinity' END,
        next_attempt_at = CASE WHEN result = 'failed' THEN clock_timestamp() + CASE WHEN e.waited THEN '0' ELSE oncehook.backoff(w.attempts) END END
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

CREATE OR REPLACE FUNCTION oncehook.fetch_values(rule jsonb, headers jsonb, query jsonb, reading oncehook.reading)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
DECLARE
  recipe text;
  value text;
  doc json := CASE WHEN reading.payload IS NULL THEN reading.content END;
  found jsonb := '[]';
BEGIN
  FOR recipe IN SELECT v FROM jsonb_array_elements_text(rule -> 'values') WITH ORDINALITY AS x (v, n) ORDER BY n LOOP
    value := oncehook.evaluate(oncehook.compile_recipe(recipe), headers, query, reading.payload, doc, NULL, reading.damage);
    IF value IS NULL OR length(value) > 500 OR value IN ('.', '..') THEN
      RETURN NULL;
    END IF;
    IF value !~ ('^(?:' || (rule ->> 'ids') || ')$') THEN
      RETURN NULL;
    END IF;
    found := found || to_jsonb(value);
  END LOOP;
  RETURN found;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.fields_text(rule jsonb, q oncehook.request, secret bytea)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.fill_answer(source text, answer jsonb, q oncehook.request)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
DECLARE
  part jsonb;
  value text;
  filled text := '';
BEGIN
  IF NOT answer ? 'parts' THEN
    RETURN answer;
  END IF;
  FOR part IN SELECT p FROM jsonb_array_elements(answer -> 'parts') WITH ORDINALITY AS x (p, n) ORDER BY n LOOP
    value := part #>> '{}';
    IF jsonb_typeof(part) = 'object' THEN
      value := left(coalesce(oncehook.value_at(q, part ->> 'from', part -> 'path') #>> '{}', ''), 1000);
      IF part ->> 'as' = 'hmac-sha256' THEN
        value := coalesce(oncehook.mac_of(source, value), '');
      END IF;
      IF answer -> 'json' = 'true' THEN
        value := to_json(value);
        value := substr(value, 2, length(value) - 2);
      END IF;
    END IF;
    filled := filled || value;
  END LOOP;
  RETURN answer || jsonb_build_object('body', filled);
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
  PERFORM oncehook.durably();
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

CREATE OR REPLACE FUNCTION oncehook.first_message(signature jsonb, q oncehook.request, secret bytea)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  parts jsonb;
  message bytea;
BEGIN
  FOR parts IN SELECT p FROM jsonb_array_elements(signature -> 'signed') WITH ORDINALITY AS x (p, n) ORDER BY n LOOP
    message := oncehook.signed_message(signature, parts, q, secret);
    EXIT WHEN message IS NOT NULL;
  END LOOP;
  RETURN message;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.forget_guards()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF EXISTS (SELECT FROM oncehook.webhook_guards) THEN
    DELETE FROM oncehook.webhook_guards g USING gone WHERE g.idempotency_key = gone.idempotency_key;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.form_as_json(pairs jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  items jsonb;
BEGIN
  IF EXISTS (SELECT FROM jsonb_array_elements(pairs) p WHERE p ->> 0 !~ '^[^][]+(\[[^][]+\]){0,8}$') THEN
    RETURN NULL;
  END IF;
  SELECT jsonb_agg(jsonb_build_array(to_jsonb(string_to_array(replace(rtrim(p ->> 0, ']'), ']', ''), '[')), p -> 1) ORDER BY n) INTO items
    FROM jsonb_array_elements(pairs) WITH ORDINALITY AS x (p, n);
  RETURN oncehook.nested_json(items);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.form_json(body bytea, as_list boolean, OUT value jsonb, OUT damage text)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.guard_reason(s oncehook.webhook_sources, value text, mode text, key text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN CASE WHEN right(mode, 8) = ' guarded' AND key <> oncehook.idempotency_key(s.id, value, s.key_format, mode = 'production guarded')
    THEN 'the same body came before, under another id' END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.guarded(source text, body_sha256 bytea, key text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  test boolean := starts_with(key, 'test/');
  first_key text;
BEGIN
  SELECT g.idempotency_key INTO first_key FROM oncehook.webhook_guards g
    WHERE g.source = source AND g.test = test AND g.body_sha256 = body_sha256;
  -- Another body of an event that is taken takes no effect, so it must not stand in the way of the event it belongs to.
  IF first_key IS NULL
    AND NOT EXISTS (SELECT FROM oncehook.webhook_events e WHERE e.idempotency_key = key AND e.locked_until >= now()) THEN
    INSERT INTO oncehook.webhook_guards (source, test, body_sha256, idempotency_key) VALUES (source, test, body_sha256, key)
      ON CONFLICT DO NOTHING;
    SELECT g.idempotency_key INTO first_key FROM oncehook.webhook_guards g
      WHERE g.source = source AND g.test = test AND g.body_sha256 = body_sha256;
  END IF;
  RETURN coalesce(first_key, key);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.hash_of(hash text, message bytea)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN CASE hash WHEN 'sha256' THEN sha256(message) WHEN 'sha512' THEN sha512(message) WHEN 'sha384' THEN sha384(message)
    WHEN 'md5' THEN decode(md5(message), 'hex') WHEN 'sha1' THEN oncehook.sha1(message) END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.header_lead(signature jsonb, path text[])
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN coalesce(
    (signature #>> '{pairs,separator}') || (signature #>> path) || coalesce(signature #>> '{pairs,equals}', '='),
    E'\x01' || CASE WHEN NOT signature ? 'pairs' THEN coalesce(signature ->> 'prefix', '') END);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.hmac_pad(key bytea, fill integer, hash text)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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

CREATE OR REPLACE FUNCTION oncehook.inverse_of(n numeric, prime numeric)
 RETURNS numeric
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  r0 numeric := prime;
  r1 numeric := (n % prime + prime) % prime;
  t0 numeric := 0;
  t1 numeric := 1;
  q numeric;
  swap numeric;
BEGIN
  WHILE r1 > 1 LOOP
    q := div(r0, r1);
    swap := r0 - q * r1; r0 := r1; r1 := swap;
    swap := t0 - q * t1; t0 := t1; t1 := swap;
  END LOOP;
  RETURN (t1 + prime) % prime;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.is_form(content_type text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN lower(content_type) LIKE ANY ('{application/x-www-form-urlencoded%,multipart/form-data%}');
END $function$;

CREATE OR REPLACE FUNCTION oncehook.is_named(q oncehook.request, rule jsonb, is_get boolean)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  condition jsonb;
BEGIN
  -- Of a body that could not be read nobody knows what it lacks.
  IF (rule ->> 'method' = 'GET') IS DISTINCT FROM is_get
    OR q.payload IS NULL AND octet_length(q.body) > 0 AND (rule ? 'exact' OR rule -> 'when' @> '[{"from": "body"}]')
    OR rule ? 'exact' AND q.payload IS NOT NULL
      AND (CASE WHEN jsonb_typeof(q.payload) = 'object' THEN q.payload - oncehook.steps(rule -> 'exact') <> '{}' ELSE true END) THEN
    RETURN false;
  END IF;
  FOR condition IN SELECT jsonb_array_elements(rule -> 'when') LOOP
    IF NOT oncehook.condition_holds(q, condition) THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN true;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.item_bodies(content json, paths jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  steps text[];
  cuts oncehook.cut[];
  items oncehook.found_item[] := '{}';
BEGIN
  FOR path IN 0 .. jsonb_array_length(paths) - 1 LOOP
    steps := ARRAY(SELECT s FROM jsonb_array_elements_text(paths -> path) WITH ORDINALITY AS x (s, n) ORDER BY n);
    cuts := oncehook.cut_body(content, steps);
    items := items || ARRAY(
      SELECT ROW(path, steps, c.place, c.lead || c.doc::text || c.tail)::oncehook.found_item FROM unnest(cuts) c
      WHERE c.place NOT IN (
        SELECT f.place[:cardinality(array_positions(steps, NULL))] FROM unnest(items) f WHERE f.way[:cardinality(steps)] = steps));
    IF cuts IS NULL OR cardinality(items) > 1000 THEN
      RETURN NULL;
    END IF;
  END LOOP;
  RETURN ARRAY(SELECT f.body FROM unnest(items) f ORDER BY f.place, f.path);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.key_holds(signature jsonb, key bytea, message bytea, mac bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN coalesce(CASE signature ->> 'key_kind'
    WHEN 'rsa' THEN oncehook.rsa_holds(signature ->> 'hash', key, message, mac)
    WHEN 'p256' THEN oncehook.p256_holds(key, message, CASE WHEN signature ->> 'format' = 'der' THEN oncehook.der_pair(mac) ELSE mac END)
    WHEN 'ed25519' THEN oncehook.ed25519_holds(key, message, mac) END, false);
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.live_pads(source text, signature jsonb, fill integer)
 RETURNS bytea[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN (SELECT coalesce(array_agg(oncehook.hmac_pad(k.secret, fill, coalesce(signature ->> 'hash', 'sha256')) ORDER BY k.created_at DESC, k.name), '{}')
    FROM oncehook.webhook_secrets k WHERE k.source_id = source AND k.retired_at IS NULL);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.lone_body_path(recipe text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  plan jsonb := oncehook.compile_recipe(recipe);
BEGIN
  IF jsonb_array_length(plan -> 0) = 1 AND plan -> 0 -> 0 ->> 'from' = 'body' THEN
    RETURN (plan -> 0 -> 0 ->> 'path')::text[];
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.mac_of(source text, message text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
BEGIN
  RETURN (
    SELECT encode(sha256(oncehook.hmac_pad(k.secret, 92, 'sha256')
        || sha256(oncehook.hmac_pad(k.secret, 54, 'sha256') || convert_to(message, 'UTF8'))), 'hex')
      FROM oncehook.webhook_secrets k WHERE k.source_id = source AND k.retired_at IS NULL
      ORDER BY k.created_at DESC, k.name LIMIT 1);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.mend_json(json_text text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  -- U+0001 and U+0002 cannot stand in valid JSON: they stand for what steps aside, an escaped backslash
  -- and the backslashes of a pair of surrogates.
  json_text := translate(ltrim(json_text, U&'\FEFF'), E'\x01\x02', E'\x03\x03');
  json_text := replace(replace(json_text, '\\', E'\x01'), '\u0000', '\ufffd');
  json_text := regexp_replace(json_text, '\\(u[dD][89abAB][0-9a-fA-F]{2})\\(u[dD][c-fC-F][0-9a-fA-F]{2})', E'\x02\\1\x02\\2', 'g');
  json_text := regexp_replace(json_text, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g');
  RETURN replace(translate(json_text, E'\x02', '\'), E'\x01', '\\');
END $function$;

CREATE OR REPLACE FUNCTION oncehook.name_event(s oncehook.webhook_sources, o oncehook.opened, plan jsonb, production boolean, body bytea, content_type text, OUT d oncehook.delivery, OUT external_id text, OUT payload jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  r oncehook.reading := oncehook.read_body(body, content_type);
  damage text := coalesce(o.damage, r.damage);
  doc json := CASE WHEN r.payload IS NULL THEN r.content END;
  value text;
BEGIN
  payload := r.payload;
  d.source := s.id;
  d.body_sha256 := sha256(body);
  d.content_type := content_type;
  d.damaged := damage IS NOT NULL;
  d.sender := o.sender;
  d.ack := s.ack;
  d.answers := s.answers;
  value := oncehook.evaluate(plan, o.headers, o.query, payload, doc, d.body_sha256, damage);
  d.event_type := left(oncehook.evaluate(coalesce(s.type_plan, '[]'), o.headers, o.query, payload, doc, d.body_sha256, damage), 512);
  d.object_id := left(oncehook.evaluate(coalesce(s.object_plan, '[]'), o.headers, o.query, payload, doc, d.body_sha256, damage), 512);
  IF value IS NULL THEN
    d.refused := 'unkeyed';
    d.reason := 'no stable id where the recipe looks';
    RETURN;
  END IF;
  external_id := CASE WHEN s.key_format = 'plain' THEN left(value, 512) END;
  d.key := oncehook.idempotency_key(s.id, value, s.key_format, production);
  SELECT e.id, e.status, e.body_sha256 INTO d.event_id, d.status, d.taken_sha256
    FROM oncehook.webhook_events e WHERE e.idempotency_key = d.key AND e.locked_until >= now();
  IF d.event_id IS NULL THEN
    d.token := gen_random_uuid();
  ELSE
    d.refused := 'taken';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.nested_json(items jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  numbered boolean;
  list boolean := true;
  node record;
  inner_text text;
  names text[] := '{}';
  texts text[] := '{}';
BEGIN
  numbered := NOT EXISTS (SELECT FROM jsonb_array_elements(items) x
    WHERE x #>> '{0,0}' <> '0' AND (translate(x #>> '{0,0}', '0123456789', '') <> '' OR length(x #>> '{0,0}') > 15 OR left(x #>> '{0,0}', 1) IN ('', '0')));
  FOR node IN
    SELECT x #>> '{0,0}' AS name, jsonb_agg(jsonb_build_array((x -> 0) - 0, x -> 1) ORDER BY n) AS below,
      (array_agg(x ->> 1 ORDER BY n DESC))[1] AS value,
      min(jsonb_array_length(x -> 0)) AS shortest, max(jsonb_array_length(x -> 0)) AS longest
    FROM jsonb_array_elements(items) WITH ORDINALITY AS e (x, n) GROUP BY 1
    ORDER BY CASE WHEN numbered THEN lpad(x #>> '{0,0}', 15, '0') ELSE x #>> '{0,0}' END COLLATE "C"
  LOOP
    IF node.longest > 1 AND node.shortest = 1 THEN
      RETURN NULL;
    END IF;
    inner_text := CASE WHEN node.longest = 1 THEN oncehook.php_text(node.value) ELSE oncehook.nested_json(node.below) END;
    IF inner_text IS NULL THEN
      RETURN NULL;
    END IF;
    list := list AND node.name = cardinality(texts)::text;
    names := names || node.name;
    texts := texts || inner_text;
  END LOOP;
  IF list THEN
    RETURN '[' || array_to_string(texts, ',') || ']';
  END IF;
  RETURN '{' || (SELECT string_agg(oncehook.php_text(k) || ':' || v, ',' ORDER BY i) FROM unnest(names, texts) WITH ORDINALITY AS u (k, v, i)) || '}';
END $function$;

CREATE OR REPLACE FUNCTION oncehook.number_of(bytes bytea)
 RETURNS numeric
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  hex text := repeat('0', (14 - 2 * octet_length(bytes) % 14) % 14) || encode(bytes, 'hex');
  n numeric := 0;
BEGIN
  FOR i IN 0 .. length(hex) / 14 - 1 LOOP
    n := n * 72057594037927936 + ('x00' || substr(hex, 14 * i + 1, 14))::bit(64)::bigint;
  END LOOP;
  RETURN n;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.number_of_reversed(bytes bytea)
 RETURNS numeric
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  turned bytea := bytes;
BEGIN
  FOR i IN 0 .. octet_length(bytes) - 1 LOOP
    turned := set_byte(turned, i, get_byte(bytes, octet_length(bytes) - 1 - i));
  END LOOP;
  RETURN oncehook.number_of(turned);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.open_request(s oncehook.webhook_sources, body text, headers text, query text, mode text)
 RETURNS oncehook.opened
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  o oncehook.opened;
  r oncehook.reading;
BEGIN
  IF s.active IS NOT TRUE OR body IS NULL THEN
    o.refused := CASE WHEN s.id IS NULL THEN 'unavailable' ELSE 'rejected' END;
    o.reason := CASE WHEN s.id IS NULL THEN 'source not in the ledger: run `oncehook migrate`'
      WHEN s.active THEN 'no body that n8n could hand on byte for byte (multipart?)'
      ELSE 'source switched off' END;
    RETURN o;
  END IF;
  o.raw := oncehook.read_base64(body);
  IF o.raw IS NULL THEN
    o.refused := 'unavailable';
    o.reason := 'what the node Raw body handed on is not base64';
    RETURN o;
  END IF;
  BEGIN
    o.headers := headers::jsonb;
    o.query := query::jsonb;
  EXCEPTION WHEN OTHERS THEN
    o.damage := 'escapes';
  END;
  IF o.damage IS NOT NULL OR jsonb_typeof(o.headers) IS DISTINCT FROM 'object' OR jsonb_typeof(o.query) IS DISTINCT FROM 'object' THEN
    o.headers := oncehook.read_object(headers);
    o.query := oncehook.read_object(query);
  END IF;
  o.reason := oncehook.verify_fully(s, o.headers, o.query, o.raw, now());
  IF o.reason IS NULL THEN
    r := oncehook.read_body(o.raw, o.headers ->> 'content-type');
  END IF;
  SELECT CASE WHEN x.done THEN 'exchanged' END, x.answers INTO o.refused, o.answers
    FROM oncehook.exchange(s, o.headers, o.query, o.raw, r.payload, o.reason, mode) x;
  IF o.refused IS NOT NULL THEN
    RETURN o;
  END IF;
  o.content := r.content;
  o.payload := r.payload;
  o.damage := coalesce(r.damage, o.damage);
  o.sender := oncehook.sender(o.headers);
  o.kept_headers := oncehook.redact(o.headers, s.credential_names);
  o.kept_query := oncehook.redact(o.query, s.credential_names);
  RETURN o;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.p256_holds(key bytea, message bytea, mac bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  p constant numeric := 115792089210356248762697446949407573530086143415290314195533631308867097853951;
  n constant numeric := 115792089210356248762697446949407573529996955224135760342422259061068512044369;
  b constant numeric := 41058363725152142129326129780047268409114441015993725554835256314039467401291;
  gx constant numeric := 48439561293906451759052585252797914202762949526041747995844080717082404635286;
  gy constant numeric := 36134250956749795798585127919587881956611106672985015071877198253568414405109;
  qx numeric;
  qy numeric;
  r numeric;
  s numeric;
  tx numeric; -- the sum of both points; null where it is none
  ty numeric;
  ax numeric;
  ay numeric;
  x numeric := 0;
  y numeric := 1;
  z numeric := 0; -- nothing added yet
  f numeric;
  g numeric;
  h numeric;
  k numeric;
  bits text;
  more text;
  digits text;
  again boolean := false;
BEGIN
  IF octet_length(key) <> 64 OR octet_length(mac) <> 64 THEN
    RETURN false;
  END IF;
  qx := oncehook.number_of(substr(key, 1, 32));
  qy := oncehook.number_of(substr(key, 33));
  r := oncehook.number_of(substr(mac, 1, 32));
  s := oncehook.number_of(substr(mac, 33));
  IF r = 0 OR r >= n OR s = 0 OR s >= n OR qx >= p OR qy >= p OR (qy * qy - qx * qx * qx + 3 * qx - b) % p <> 0 THEN
    RETURN false;
  END IF;
  IF qx <> gx THEN
    f := (qy - gy) * oncehook.inverse_of(qx - gx, p) % p;
  ELSIF qy = gy THEN
    f := 3 * (gx * gx - 1) * oncehook.inverse_of(2 * gy, p) % p;
  END IF;
  tx := ((f * f - gx - qx) % p + p) % p;
  ty := ((f * (gx - tx) - gy) % p + p) % p;
  f := oncehook.inverse_of(s, n);
  bits := oncehook.bits_of(oncehook.number_of(sha256(message)) * f % n);
  more := oncehook.bits_of(r * f % n);
  FOR i IN 1 .. 256 LOOP
    digits := substr(bits, i, 1) || substr(more, i, 1);
    LOOP
      IF z <> 0 THEN -- twice the point
        f := y * y % p;
        g := 4 * x * f % p;
        k := z * z % p;
        h := 3 * (x - k) * (x + k) % p;
        z := 2 * y * z % p;
        x := (h * h - 2 * g) % p;
        y := (h * (g - x) - 8 * f * f) % p;
      END IF;
      EXIT WHEN digits = '00' OR again;
      ax := CASE digits WHEN '10' THEN gx WHEN '01' THEN qx ELSE tx END;
      ay := CASE digits WHEN '10' THEN gy WHEN '01' THEN qy ELSE ty END;
      EXIT WHEN ax IS NULL;
      IF z = 0 THEN
        x := ax; y := ay; z := 1;
        EXIT;
      END IF;
      k := z * z % p;
      f := (ax * k - x) % p;
      g := (ay * (k * z % p) - y) % p;
      IF f <> 0 THEN -- plus another point
        k := f * f % p;
        h := k * f % p;
        k := x * k % p;
        z := z * f % p;
        x := (g * g - h - 2 * k) % p;
        y := (g * (k - x) - y * h) % p;
        EXIT;
      ELSIF g <> 0 THEN -- minus itself
        z := 0;
        EXIT;
      END IF;
      x := ax; y := ay; z := 1; -- plus itself: twice the point
      again := true;
    END LOOP;
    again := false;
  END LOOP;
  k := z * z % p;
  RETURN z <> 0 AND ((x - r * k) % p = 0 OR (r + n < p AND (x - (r + n) * k) % p = 0));
END $function$;

CREATE OR REPLACE FUNCTION oncehook.pair_values(header text, separator text, name text, equals text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.php_text(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN replace(replace(replace(to_json(value)::text, '/', '\/'), U&'\2028', '\u2028'), U&'\2029', '\u2029');
END $function$;

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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.read_bytes(written text, encoding text)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  text_of text := CASE encoding WHEN 'hex' THEN lower(written) WHEN 'base64url' THEN rtrim(written, '=') ELSE written END;
  bytes bytea;
BEGIN
  bytes := CASE encoding WHEN 'hex' THEN decode(text_of, 'hex') WHEN 'base64' THEN decode(text_of, 'base64')
    WHEN 'base64url' THEN decode(translate(text_of, '-_', '+/') || repeat('=', -length(text_of) & 3), 'base64') END;
  RETURN CASE WHEN oncehook.write_mac(bytes, encoding) = text_of THEN bytes END;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.read_form(body bytea)
 RETURNS oncehook.reading
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  r oncehook.reading;
BEGIN
  SELECT f.value, f.damage INTO r.payload, r.damage FROM oncehook.form_json(body, false) f;
  r.content := r.payload;
  r.form := true;
  RETURN r;
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

CREATE OR REPLACE FUNCTION oncehook.receive(source text, body text, headers text, query text, recipe text, mode text)
 RETURNS oncehook.claim
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  r oncehook.reading;
  raw bytea;
  head jsonb;
  params jsonb;
  payload jsonb;
  content text;
  doc json;
  damage text;
  reason text;
  value text;
  type text;
  object text;
  key text;
  sha bytea;
  taken_id bigint;
  taken_status text;
  taken_sha bytea;
  token text;
  plan jsonb;
  setting text;
  signature text;
  stamp text;
  done boolean;
BEGIN
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  IF s.active IS NOT TRUE OR body IS NULL OR s.rules ?| '{items,fetch}' THEN
    -- Without its bytes a delivery can neither be checked nor kept, so it must not be acknowledged.
    -- A workflow from before its source had batches would take the first event of a request for all of it.
    RETURN oncehook.refused(s, source, CASE WHEN s.id IS NULL OR s.active AND s.rules ?| '{items,fetch}' THEN 'unavailable' ELSE 'rejected' END,
      CASE WHEN s.id IS NULL THEN 'source not in the ledger: run `oncehook migrate`'
        WHEN s.active AND s.rules ?| '{items,fetch}' THEN 'the workflow is for requests of one event, and the source is not: generate and import it anew'
        WHEN s.active THEN 'no body that n8n could hand on byte for byte (multipart?)'
        ELSE 'source switched off' END);
  END IF;

  BEGIN
    raw := decode(body, 'base64');
    head := coalesce(headers, '{}')::jsonb;
    params := query::jsonb;
    signature := s.header_separator || (head ->> s.signature_header);
    stamp := split_part(split_part(signature, s.stamp_lead, 2), s.header_separator, 1);
    IF oncehook.signed_as_usual(s, signature, stamp, raw, now()) IS NOT TRUE THEN
      reason := oncehook.verify_fully(s, head, params, raw, now());
      IF reason IS NOT NULL THEN
        RETURN oncehook.unchecked(s, head, params, raw, reason, mode);
      END IF;
    END IF;
    content := convert_from(raw, 'UTF8');
    payload := content::jsonb;
  EXCEPTION WHEN OTHERS THEN
    -- Something is not as it usually is: the same again by functions that expect everything.
    raw := oncehook.read_base64(body);
    IF raw IS NULL THEN
      RETURN oncehook.refused(s, source, 'unavailable', 'what the node Raw body handed on is not base64');
    END IF;
    head := oncehook.read_object(headers);
    params := oncehook.read_object(query);
    reason := oncehook.verify_fully(s, head, params, raw, now());
    IF reason IS NOT NULL THEN
      RETURN oncehook.unchecked(s, head, params, raw, reason, mode);
    END IF;
    r := oncehook.read_body(raw, head ->> 'content-type');
    content := r.content;
    payload := r.payload;
    damage := coalesce(r.damage, 'escapes'); -- it may have been a header
    doc := CASE WHEN payload IS NULL THEN content::json END;
  END;
  IF s.rules IS NOT NULL THEN
    -- A handshake or a question is no event.
    SELECT x.done, x.answers, x.next_mode INTO done, s.answers, mode
      FROM oncehook.exchange(s, head, params, raw, payload, NULL, mode) x;
    IF done THEN
      RETURN NULL;
    END IF;
  END IF;
  sha := sha256(raw);

  -- One lone body placeholder that finds a string or a number; everything else by the whole plan.
  IF damage IS NOT NULL OR recipe <> s.key_recipe THEN
    plan := oncehook.compile_recipe(coalesce(recipe, s.key_recipe));
    IF plan IS NULL THEN
      RETURN oncehook.refused(s, source, 'unavailable', 'the recipe in the node Idempotency key cannot be read');
    END IF;
    value := oncehook.evaluate(plan, head, params, payload, doc, sha, damage);
  ELSE
    value := CASE WHEN jsonb_typeof(payload #> s.key_path) IN ('string', 'number') THEN nullif(payload #>> s.key_path, '') END;
    IF value IS NULL THEN
      value := oncehook.evaluate(s.key_plan, head, params, payload, doc, sha, NULL);
    END IF;
  END IF;
  -- The usual key, and what `unusual_key` makes of all others; null without a value.
  key := CASE WHEN mode = 'production' AND s.key_format = 'plain' AND octet_length(value) <= 450 AND NOT starts_with(value, 'sha256:')
    THEN source || ':' || value ELSE oncehook.unusual_key(s, value, mode, sha) END;
  SELECT e.id, e.status, e.body_sha256 INTO taken_id, taken_status, taken_sha
    FROM oncehook.webhook_events e WHERE e.idempotency_key = key AND e.locked_until >= now();
  IF taken_sha = sha THEN
    -- The common duplicate: nothing of it is needed any more but who sent it. Its audit row may be lost with
    -- the server (unless a claim of the same transaction would be lost with it): the claim that it tells of is
    -- on disk already.
    setting := set_config('oncehook.delivery', ROW('taken',
        CASE WHEN s.rules IS NOT NULL THEN oncehook.guard_reason(s, value, mode, key) END,
        source, key, NULL, NULL, NULL, sha, NULL, NULL,
        oncehook.sender(head), taken_id, taken_status, sha, s.ack, s.answers)::oncehook.delivery::text, true)
      || set_config('synchronous_commit', CASE WHEN pg_current_xact_id_if_assigned() IS NULL THEN 'off' ELSE 'on' END, true);
    RETURN NULL;
  END IF;
  IF key IS NOT NULL AND taken_id IS NULL THEN
    token := gen_random_uuid()::text;
  END IF;
  type := CASE WHEN damage IS NULL AND jsonb_typeof(payload #> s.type_path) = 'string' THEN left(payload #>> s.type_path, 512) END;
  object := CASE WHEN damage IS NULL AND jsonb_typeof(payload #> s.object_path) = 'string' THEN left(payload #>> s.object_path, 512) END;
  IF type IS NULL AND s.type_plan IS NOT NULL OR object IS NULL AND s.object_plan IS NOT NULL THEN
    type := CASE WHEN type IS NULL AND s.type_plan IS NOT NULL
      THEN left(oncehook.evaluate(s.type_plan, head, params, payload, doc, sha, damage), 512) ELSE type END;
    object := CASE WHEN object IS NULL AND s.object_plan IS NOT NULL
      THEN left(oncehook.evaluate(s.object_plan, head, params, payload, doc, sha, damage), 512) ELSE object END;
  END IF;
  IF head ?| s.credential_names OR params ?| s.credential_names THEN
    head := oncehook.redact(head, s.credential_names);
    params := oncehook.redact(params, s.credential_names);
  END IF;
  -- What is acknowledged must be on disk, whatever this database's default is.
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  setting := set_config('oncehook.delivery', ROW(
      CASE WHEN value IS NULL THEN 'unkeyed' WHEN token IS NULL THEN 'taken' END,
      CASE WHEN value IS NOT NULL THEN CASE WHEN s.rules IS NOT NULL AND token IS NULL THEN oncehook.guard_reason(s, value, mode, key) END
        WHEN content IS NULL THEN 'no id in the headers, and no body'
        ELSE 'no stable id where the recipe looks' END,
      source, key, type, object, head ->> 'content-type', sha, damage IS NOT NULL, token,
      oncehook.sender(head), taken_id, taken_status, taken_sha, s.ack, s.answers)::oncehook.delivery::text, true)
    || set_config('oncehook.body', CASE WHEN damage IS NULL THEN content ELSE body END, true)
    || set_config('oncehook.headers', headers, true) || set_config('oncehook.query', query, true);
  IF token IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN ROW(key, source, type, CASE WHEN s.key_format = 'plain' THEN left(value, 512) END, object,
    head ->> 'content-type', head, params, raw, sha, payload,
    sha256(convert_to(token, 'UTF8')), now() + s.lease, now() + s.lease)::oncehook.claim;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.receive_delivery(source text, body text, headers text, query text, recipe text, mode text)
 RETURNS oncehook.claim
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  o oncehook.opened;
  d oncehook.delivery;
  r oncehook.reading;
  fetched_by jsonb;
BEGIN
  PERFORM set_config('oncehook.fetch', '', true);
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  o := oncehook.open_request(s, body, headers, query, mode);
  IF o.refused = 'exchanged' THEN
    RETURN NULL;
  END IF;
  s.answers := coalesce(o.answers, s.answers);
  -- The node's recipe is for the object, and is said to be broken before anything is acknowledged.
  IF o.refused IS NULL AND (s.rules -> 'fetch' IS NULL OR oncehook.compile_recipe(coalesce(recipe, s.key_recipe)) IS NULL) THEN
    o.refused := 'unavailable';
    o.reason := CASE WHEN s.rules -> 'fetch' IS NOT NULL THEN 'the recipe in the node Idempotency key cannot be read'
      ELSE 'the workflow fetches objects, and the source has none to fetch: generate and import it anew' END;
  END IF;
  IF o.refused IS NOT NULL THEN
    RETURN oncehook.refused(s, source, o.refused, o.reason);
  END IF;
  PERFORM oncehook.durably();
  r.payload := o.payload;
  r.content := o.content;
  r.damage := o.damage;
  fetched_by := oncehook.fetch_values(s.rules -> 'fetch', o.headers, o.query, r);
  d.source := source;
  d.event_type := 'delivery';
  d.content_type := o.headers ->> 'content-type';
  d.body_sha256 := sha256(o.raw);
  d.damaged := true; -- read by the function that expects everything
  d.sender := o.sender;
  d.ack := s.ack;
  d.answers := s.answers;
  IF fetched_by IS NULL THEN
    d.refused := 'unkeyed';
    d.reason := 'no id by which the object could be fetched, or one that is none of the provider''s';
  ELSE
    d.key := CASE WHEN mode = 'production' THEN '' ELSE 'test/' END || 'delivery/' || source || ':' || gen_random_uuid();
    d.token := gen_random_uuid();
  END IF;
  PERFORM set_config('oncehook.delivery', d::text, true), set_config('oncehook.body', body, true),
    set_config('oncehook.headers', headers, true), set_config('oncehook.query', query, true),
    set_config('oncehook.fetch', coalesce(fetched_by::text, ''), true);
  IF d.token IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN ROW(d.key, source, d.event_type, NULL, NULL, d.content_type, o.kept_headers, o.kept_query, o.raw, d.body_sha256, o.payload,
    sha256(convert_to(d.token, 'UTF8')), now() + s.lease, now() + s.lease)::oncehook.claim;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.receive_fetched(source text, delivery_key text, delivery_claim text, body text, recipe text)
 RETURNS oncehook.claim
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  e oncehook.webhook_events;
  o oncehook.opened;
  d oncehook.delivery;
  named record;
  plan jsonb;
BEGIN
  PERFORM set_config('oncehook.fetched', '', true);
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  SELECT * INTO e FROM oncehook.webhook_events w
    WHERE w.source = source AND w.idempotency_key = delivery_key AND w.status = 'processing'
      AND w.claim_hash = sha256(convert_to(delivery_claim, 'UTF8'))
    FOR UPDATE;
  plan := oncehook.compile_recipe(coalesce(recipe, s.key_recipe));
  o.raw := oncehook.read_base64(body);
  o.reason := CASE WHEN e.id IS NULL THEN 'this run does not hold the delivery any more'
    WHEN o.raw IS NULL THEN 'the object did not come byte for byte'
    WHEN plan IS NULL THEN 'the recipe in the node Idempotency key cannot be read' END;
  IF o.reason IS NOT NULL THEN
    RETURN oncehook.refused(s, source, 'unavailable', o.reason);
  END IF;
  PERFORM oncehook.durably();
  o.headers := e.headers;
  o.query := e.query;
  o.kept_headers := e.headers;
  o.kept_query := e.query;
  SELECT * INTO named FROM oncehook.name_event(s, o, plan, NOT starts_with(delivery_key, 'test/'), o.raw, 'application/json');
  d := named.d;
  d.damaged := true;
  PERFORM set_config('oncehook.delivery', d::text, true), set_config('oncehook.body', body, true),
    set_config('oncehook.headers', e.headers::text, true), set_config('oncehook.query', e.query::text, true),
    set_config('oncehook.fetched', jsonb_build_object('key', delivery_key, 'claim', delivery_claim)::text, true);
  IF d.token IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN ROW(d.key, source, d.event_type, named.external_id, d.object_id, d.content_type, e.headers, e.query, o.raw, d.body_sha256,
    named.payload, sha256(convert_to(d.token, 'UTF8')), now() + s.lease, now() + s.lease)::oncehook.claim;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.receive_items(source text, body text, headers text, query text, recipe text, mode text)
 RETURNS SETOF oncehook.item_claim
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  s oncehook.webhook_sources;
  o oncehook.opened;
  d oncehook.delivery;
  plan jsonb;
  bodies text[];
  named record;
  keys text[] := '{}';
  claims oncehook.item_claim[] := '{}';
  handed jsonb[] := '{}';
BEGIN
  PERFORM set_config('oncehook.items', '', true);
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  o := oncehook.open_request(s, body, headers, query, mode);
  IF o.refused = 'exchanged' THEN
    RETURN;
  END IF;
  s.answers := coalesce(o.answers, s.answers);
  plan := oncehook.compile_recipe(coalesce(recipe, s.key_recipe));
  IF o.refused IS NULL AND (plan IS NULL OR s.rules -> 'items' IS NULL) THEN
    o.refused := 'unavailable';
    o.reason := CASE WHEN plan IS NULL THEN 'the recipe in the node Idempotency key cannot be read'
      ELSE 'the workflow is for requests of several events, and the source is not: generate and import it anew' END;
  END IF;
  IF o.refused IS NOT NULL THEN
    PERFORM oncehook.refused(s, source, o.refused, o.reason);
    RETURN;
  END IF;
  -- What is acknowledged must be on disk, whatever this database's default is.
  PERFORM oncehook.durably(), set_config('oncehook.headers', headers, true), set_config('oncehook.query', query, true);
  bodies := oncehook.item_bodies(o.content::json, s.rules -> 'items');
  IF bodies IS NULL OR bodies = '{}' THEN
    d.refused := 'unkeyed';
    d.reason := CASE WHEN bodies IS NULL AND o.content IS NOT NULL THEN 'more than 1,000 events, or 32 MB of them, in one request'
      ELSE 'no events where the source has them' END;
    d.source := source;
    d.content_type := o.headers ->> 'content-type';
    d.damaged := true;
    d.answers := s.answers;
    PERFORM set_config('oncehook.delivery', d::text, true), set_config('oncehook.body', body, true);
    RETURN;
  END IF;
  FOR n IN 1 .. cardinality(bodies) LOOP
    SELECT * INTO named FROM oncehook.name_event(
      s, o, plan, mode = 'production', convert_to(bodies[n], 'UTF8'), o.headers ->> 'content-type');
    d := named.d;
    IF d.token IS NOT NULL AND d.key = ANY (keys) THEN
      d.token := NULL;
      d.refused := 'taken';
    ELSIF d.token IS NOT NULL THEN
      keys := keys || d.key;
      claims := claims || ROW(d.key, source, d.event_type, named.external_id, d.object_id, d.content_type, o.kept_headers, o.kept_query,
        convert_to(bodies[n], 'UTF8'), d.body_sha256, named.payload, n, sha256(convert_to(d.token, 'UTF8')),
        now() + s.lease, now() + s.lease)::oncehook.item_claim;
    END IF;
    -- The provider's words are for the request as a whole.
    d.answers := '{}';
    handed := handed || jsonb_build_object('delivery', to_jsonb(d), 'body', bodies[n]);
  END LOOP;
  PERFORM set_config('oncehook.items', jsonb_build_object('answers', s.answers, 'items', to_jsonb(handed))::text, true);
  RETURN QUERY SELECT * FROM unnest(claims) c ORDER BY c.key COLLATE "C";
END $function$;

CREATE OR REPLACE FUNCTION oncehook.redact(named jsonb, names text[])
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  name text;
BEGIN
  IF jsonb_typeof(named) <> 'object' THEN
    RETURN '{}';
  END IF;
  FOREACH name IN ARRAY names LOOP
    named := CASE WHEN named ? name THEN jsonb_set(named, ARRAY[name], '"[redacted]"') ELSE named END;
  END LOOP;
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

CREATE OR REPLACE FUNCTION oncehook.refused(s oncehook.webhook_sources, source text, refused text, reason text)
 RETURNS oncehook.claim
 LANGUAGE plpgsql
AS $function$
DECLARE
  d oncehook.delivery;
BEGIN
  d.source := source;
  d.refused := refused;
  d.reason := reason;
  d.answers := s.answers;
  PERFORM set_config('oncehook.delivery', d::text, true);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.renew_pads()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  NEW.inner_pads := oncehook.live_pads(NEW.id, NEW.signature, 54);
  NEW.outer_pads := oncehook.live_pads(NEW.id, NEW.signature, 92);
  RETURN NEW;
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
    PERFORM oncehook.durably();
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

CREATE OR REPLACE FUNCTION oncehook.replay_delivery(event_id text, source text, workflow text, execution_id text, instance text)
 RETURNS oncehook.delivery_answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  a oncehook.answer := oncehook.replay(event_id, source, workflow, execution_id, instance);
  told oncehook.delivery_answer;
  fetched_by jsonb;
BEGIN
  IF a.outcome = 'reclaimed' AND a.key ~ '^(test/)?delivery/' THEN
    SELECT oncehook.fetch_values(s.rules -> 'fetch', e.headers, e.query, oncehook.read_body(e.body, e.content_type)) INTO fetched_by
      FROM oncehook.webhook_events e JOIN oncehook.webhook_sources s ON s.id = e.source WHERE e.id = a.event_id::bigint;
    IF fetched_by IS NULL THEN
      -- The source's rule has changed since.
      PERFORM oncehook.fail(source, instance, execution_id, 'no id by which the object could be fetched', 'Claim replay', NULL);
      a.outcome := 'unavailable';
      a.reason := 'no id by which the object could be fetched';
      a.claim := NULL;
    END IF;
  END IF;
  SELECT a.*, fetched_by INTO told;
  RETURN told;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report()
 RETURNS oncehook.answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  d oncehook.delivery := nullif(current_setting('oncehook.delivery', true), '')::oncehook.delivery;
  a oncehook.answer;
  e record;
  r oncehook.reading;
  raw bytea;
  outcome text;
BEGIN
  IF d.token IS NOT NULL THEN
    SELECT w.id, w.status, w.attempts, w.first_seen_at, w.claim_hash, w.body_sha256, w.external_id, w.headers, w.query,
        current_setting('oncehook.body') AS content INTO e
      FROM oncehook.webhook_events w WHERE w.idempotency_key = d.key;
    IF e.claim_hash = sha256(convert_to(d.token, 'UTF8')) AND e.status = 'processing' THEN
      IF d.damaged OR e.attempts > 1 THEN
        raw := oncehook.delivered_bytes(d.damaged);
        r := oncehook.read_body(raw, d.content_type);
        e.content := r.content;
      END IF;
      IF e.attempts > 1 THEN
        -- The work goes on with what came now, so that is what the ledger must hold. (The times of the takeover belong
        -- here too: in the INSERT every delivery would pay for planning them.)
        UPDATE oncehook.webhook_events w
          SET claimed_at = now(), next_attempt_at = w.locked_until,
            body = raw, body_sha256 = sha256(raw), payload = r.payload, content_type = d.content_type,
            headers = oncehook.delivered_object('oncehook.headers', d.source), query = oncehook.delivered_object('oncehook.query', d.source),
            event_type = d.event_type, object_id = d.object_id
          WHERE w.id = e.id
          RETURNING w.headers, w.query INTO e.headers, e.query;
      END IF;
      a := ROW(CASE WHEN e.attempts = 1 THEN 'new' ELSE 'reclaimed' END, 200,
        '{"ok":true,"duplicate":false,"key":' || to_json(d.key) || '}', 'application/json; charset=utf-8', NULL,
        d.key, d.token, e.attempts, 'processing', NULL,
        d.source, e.id, d.event_type, e.external_id, d.object_id, e.first_seen_at, e.content, e.headers, e.query)::oncehook.answer;
    ELSE
      -- Taken while the INSERT waited. No row: it was final, and retention took it in this very moment.
      d.event_id := e.id;
      d.status := e.status;
      d.taken_sha256 := e.body_sha256;
    END IF;
  END IF;
  IF a.outcome IS NULL AND d.key IS NULL THEN
    a := oncehook.report_refused(d);
  ELSIF a.outcome IS NULL THEN
    IF d.taken_sha256 <> d.body_sha256 THEN
      raw := oncehook.delivered_bytes(d.damaged);
      outcome := CASE WHEN NOT oncehook.same_but_volatile(d.event_id, (oncehook.read_body(raw, d.content_type)).payload) THEN 'mismatch' END;
    END IF;
    INSERT INTO oncehook.webhook_duplicates (event_id, source, source_ip, outcome, body_sha256, body)
      SELECT d.event_id, d.source, d.sender, coalesce(outcome, 'duplicate'), d.body_sha256, CASE WHEN outcome = 'mismatch' THEN raw END
      WHERE d.event_id IS NOT NULL;
    a := ROW(coalesce(outcome, 'duplicate'), 200,
      '{"ok":true,"duplicate":true,"message":"event already accepted","key":' || to_json(d.key) || ',"status":"'
        || coalesce(d.status, 'success') || CASE WHEN outcome = 'mismatch' THEN '","mismatch":true}' ELSE '"}' END,
      'application/json; charset=utf-8', NULL,
      d.key, NULL, NULL, coalesce(d.status, 'success'), d.reason, d.source, d.event_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::oncehook.answer;
    IF d.ack = 'after-success' AND d.status IN ('received', 'processing', 'failed') THEN
      -- The work is not done, and the sender has no answer that says so: this sender's retry is the plan.
      a.code := 503;
      a.retry_after := 10;
      a.answer := '{"ok":false,"duplicate":true,"error":"still processing","key":' || to_json(d.key) || '}';
    END IF;
  END IF;
  IF d.answers <> '{}' THEN
    a := oncehook.answer_as(a, d.answers);
  END IF;
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report_delivery()
 RETURNS oncehook.delivery_answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  a oncehook.answer := oncehook.report();
  told oncehook.delivery_answer;
BEGIN
  SELECT a.*, CASE WHEN a.outcome = 'new' THEN nullif(current_setting('oncehook.fetch', true), '')::jsonb END INTO told;
  RETURN told;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report_exchange(d oncehook.delivery)
 RETURNS oncehook.answer
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  a oncehook.answer;
BEGIN
  a.outcome := d.refused;
  a.code := 200;
  a.answer := '{"ok":true}';
  a.content_type := 'application/json; charset=utf-8';
  a.source := d.source;
  a.reason := d.reason;
  IF d.refused = 'question' THEN
    a.answer := '{"ok":false}';
    a.body := (oncehook.read_body(oncehook.delivered_bytes(d.damaged), d.content_type)).content;
    a.headers := oncehook.delivered_object('oncehook.headers', d.source);
    a.query := oncehook.delivered_object('oncehook.query', d.source);
  END IF;
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report_fetched()
 RETURNS oncehook.answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  a oncehook.answer := oncehook.report();
  held jsonb := nullif(current_setting('oncehook.fetched', true), '');
BEGIN
  IF held IS NOT NULL AND a.outcome <> 'unavailable' THEN
    -- By its fencing token: nobody can end a delivery that he does not hold.
    PERFORM oncehook.finish(held ->> 'key', held ->> 'claim');
  END IF;
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report_items()
 RETURNS SETOF oncehook.item_answer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
  batch jsonb := nullif(current_setting('oncehook.items', true), '');
  d oncehook.delivery;
  a oncehook.answer;
  whole oncehook.answer;
  item record;
  counts jsonb := '{"new":0,"reclaimed":0,"duplicate":0,"mismatch":0,"unkeyed":0}';
  rows oncehook.answer[];
BEGIN
  IF batch IS NULL THEN
    whole := oncehook.report();
    rows := ARRAY[whole];
  ELSE
    rows := array_fill(NULL::oncehook.answer, ARRAY[jsonb_array_length(batch -> 'items')]);
    -- Dead letters in the order of their hashes, for the reason for which events are claimed in the order of their keys.
    FOR item IN
      SELECT i.n, i.item -> 'delivery' AS delivery, i.item ->> 'body' AS body
        FROM jsonb_array_elements(batch -> 'items') WITH ORDINALITY AS i (item, n)
        ORDER BY i.item #>> '{delivery,refused}' = 'unkeyed' DESC NULLS LAST,
          CASE WHEN i.item #>> '{delivery,refused}' = 'unkeyed' THEN i.item #>> '{delivery,body_sha256}' END, i.n
    LOOP
      d := jsonb_populate_record(NULL::oncehook.delivery, item.delivery);
      IF d.refused = 'taken' AND d.event_id IS NULL THEN
        -- The second of its key in this request. It needs no waiting for: this very run works on the first.
        d.ack := 'after-claim';
        SELECT w.id, w.status, w.body_sha256 INTO d.event_id, d.status, d.taken_sha256
          FROM oncehook.webhook_events w WHERE w.idempotency_key = d.key;
      END IF;
      PERFORM set_config('oncehook.delivery', d::text, true),
        set_config('oncehook.body', CASE WHEN d.damaged THEN encode(convert_to(item.body, 'UTF8'), 'base64') ELSE item.body END, true);
      a := oncehook.report();
      rows[item.n] := a;
      counts := jsonb_set(counts, ARRAY[a.outcome], to_jsonb(coalesce((counts ->> a.outcome)::int, 0) + 1));
      IF a.code = 503 THEN
        whole.code := 503;
      END IF;
    END LOOP;
    whole.outcome := (SELECT o FROM unnest(ARRAY['new', 'reclaimed', 'stale', 'mismatch', 'duplicate', 'unkeyed']) WITH ORDINALITY AS x (o, n)
      WHERE (counts ->> o)::int > 0 ORDER BY n LIMIT 1);
    whole.content_type := 'application/json; charset=utf-8';
    IF whole.code = 503 THEN
      whole.answer := '{"ok":false,"items":' || cardinality(rows) || ',"error":"still processing"}';
    ELSE
      whole.code := 200;
      whole.answer := '{"ok":true,"items":' || cardinality(rows) || (
        SELECT string_agg(',"' || o || '":' || (counts ->> o), '' ORDER BY n)
        FROM unnest(ARRAY['new', 'reclaimed', 'duplicate', 'mismatch', 'stale', 'unkeyed']) WITH ORDINALITY AS x (o, n)
        WHERE counts ? o) || '}';
      whole := oncehook.answer_as(whole, batch -> 'answers');
    END IF;
  END IF;
  RETURN QUERY SELECT x.*, whole.outcome, whole.code, whole.answer, whole.content_type FROM unnest(rows) AS x;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.report_refused(d oncehook.delivery)
 RETURNS oncehook.answer
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  a oncehook.answer;
  raw bytea;
BEGIN
  a.content_type := 'application/json; charset=utf-8';
  a.source := d.source;
  a.reason := d.reason;
  IF d.refused = 'unkeyed' THEN
    raw := oncehook.delivered_bytes(d.damaged);
    INSERT INTO oncehook.webhook_dead_letters AS q (source, kind, reason, content_type, headers, query, body, body_sha256)
      VALUES (d.source, 'reception', d.reason, d.content_type, oncehook.delivered_object('oncehook.headers', d.source),
        oncehook.delivered_object('oncehook.query', d.source), raw, sha256(raw))
      ON CONFLICT (source, body_sha256) WHERE q.event_id IS NULL
      -- What came again after somebody dealt with it needs somebody again.
      DO UPDATE SET deliveries = q.deliveries + 1, last_seen_at = now(), resolved_at = NULL, resolution = NULL;
    a.outcome := 'unkeyed';
    a.code := 200;
    a.answer := '{"ok":true,"quarantined":true}';
  ELSIF d.refused = 'rejected' THEN
    PERFORM set_config('synchronous_commit', 'off', true) WHERE pg_current_xact_id_if_assigned() IS NULL;
    INSERT INTO oncehook.webhook_rejections AS r (source, reason, hour, shard)
      VALUES (d.source, d.reason, date_trunc('hour', now(), 'UTC'), floor(random() * 16))
      ON CONFLICT (source, reason, hour, shard) DO UPDATE SET count = r.count + 1;
    a.outcome := 'rejected';
    a.code := 401;
    a.answer := '{"ok":false,"error":' || to_json(d.reason) || '}';
  ELSIF d.refused IN ('handshake', 'question') THEN
    RETURN oncehook.report_exchange(d);
  ELSE
    a.outcome := 'unavailable';
    a.code := 503;
    a.retry_after := 60;
    a.answer := '{"ok":false,"error":"unavailable"}';
  END IF;
  RETURN a;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.right_macs(s oncehook.webhook_sources, q oncehook.request)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.rsa_holds(hash text, key bytea, message bytea, mac bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
DECLARE
  size int := octet_length(key) - 4;
  digest bytea := decode(CASE hash WHEN 'sha256' THEN '3031300d060960864801650304020105000420'
      WHEN 'sha384' THEN '3041300d060960864801650304020205000430'
      WHEN 'sha512' THEN '3051300d060960864801650304020305000440' END, 'hex') || oncehook.hash_of(hash, message);
  exponent text;
  modulus numeric;
  base numeric;
  x numeric;
BEGIN
  IF digest IS NULL OR size NOT BETWEEN 128 AND 512 OR octet_length(mac) <> size THEN
    RETURN false;
  END IF;
  exponent := ltrim(('x' || encode(substr(key, 1, 4), 'hex'))::bit(32)::text, '0');
  modulus := oncehook.number_of(substr(key, 5));
  base := oncehook.number_of(mac);
  IF length(exponent) NOT BETWEEN 2 AND 17 OR right(exponent, 1) <> '1' OR modulus % 2 = 0 OR base >= modulus THEN
    RETURN false;
  END IF;
  x := base;
  FOR i IN 2 .. length(exponent) LOOP
    x := x * x % modulus;
    IF substr(exponent, i, 1) = '1' THEN
      x := x * base % modulus;
    END IF;
  END LOOP;
  RETURN x = oncehook.number_of(decode('0001' || repeat('ff', size - 3 - octet_length(digest)) || '00', 'hex') || digest);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.same_but_volatile(event_id bigint, payload jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
DECLARE
  stored jsonb;
  paths jsonb;
BEGIN
  SELECT e.payload, s.volatile INTO stored, paths
    FROM oncehook.webhook_events e JOIN oncehook.webhook_sources s ON s.id = e.source WHERE e.id = event_id;
  RETURN CASE WHEN paths <> '[]' THEN coalesce(oncehook.without(stored, paths) = oncehook.without(payload, paths), false) ELSE false END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.sender(headers jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN "left"(COALESCE((headers ->> 'x-real-ip'::text), btrim(split_part((headers ->> 'x-forwarded-for'::text), ','::text, '-1'::integer))), 64);

CREATE OR REPLACE FUNCTION oncehook.sha1(message bytea)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.shows_secret(source text, q oncehook.request, place jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
DECLARE
  given text := oncehook.value_at(q, place ->> 'from', place -> 'path') #>> '{}';
BEGIN
  PERFORM FROM oncehook.webhook_secrets k
    WHERE k.source_id = source AND k.retired_at IS NULL
      AND sha256(convert_to(given, 'UTF8')) IN (k.digest, sha256(convert_to(encode(k.digest, 'hex'), 'UTF8')));
  RETURN FOUND;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.signed_as_usual(s oncehook.webhook_sources, header text, stamp text, body bytea, at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (CASE WHEN ((s).tolerance_seconds IS NULL) THEN true WHEN (translate(stamp, '123456789'::text, '000000000'::text) = '0000000000'::text) THEN (width_bucket((date_part('epoch'::text, at) - (stamp)::double precision), (0)::double precision, ((s).tolerance_seconds)::double precision, 1) = 1) ELSE NULL::boolean END AND (sha256(((s).outer_pads[1] || convert_to(split_part(split_part(header, (s).mac_lead, 2), (s).header_separator, 1), 'UTF8'::name))) = sha256(((s).outer_pads[1] || convert_to(encode(sha256(((s).outer_pads[1] || sha256(((((s).inner_pads[1] || convert_to(replace((s).signed_before, '{timestamp}'::text, stamp), 'UTF8'::name)) || body) || convert_to((s).signed_after, 'UTF8'::name))))), (s).mac_encoding), 'UTF8'::name)))) AND (strpos(header, ((s).header_separator || ' '::text)) = 0));

CREATE OR REPLACE FUNCTION oncehook.signed_message(signature jsonb, parts jsonb, q oncehook.request, secret bytea)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.signed_text(signature jsonb, after_body boolean)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.steps(path jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN ARRAY(SELECT s FROM jsonb_array_elements_text(path) WITH ORDINALITY AS x (s, n) ORDER BY n);
END $function$;

CREATE OR REPLACE FUNCTION oncehook.text_at(q oncehook.request, place jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN CASE WHEN place ? 'header' THEN q.headers ->> (place ->> 'header')
    WHEN place ? 'query' THEN oncehook.value_at(q, 'query', jsonb_build_array(place -> 'query')) #>> '{}'
    WHEN place ? 'body' THEN oncehook.value_at(q, 'body', place -> 'body') #>> '{}'
    WHEN place ? 'item' THEN oncehook.value_at(q, 'item', place -> 'item') #>> '{}' END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.unchecked(s oncehook.webhook_sources, headers jsonb, query jsonb, body bytea, reason text, mode text)
 RETURNS oncehook.claim
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF s.rules IS NULL THEN
    RETURN oncehook.refused(s, s.id, 'rejected', reason);
  END IF;
  PERFORM oncehook.exchange(s, headers, query, body, NULL, reason, mode);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.unusual_key(s oncehook.webhook_sources, value text, mode text, body_sha256 bytea)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  key text := oncehook.idempotency_key(s.id, value, s.key_format, mode IN ('production', 'production guarded'));
BEGIN
  RETURN CASE WHEN key IS NOT NULL AND right(mode, 8) = ' guarded' THEN oncehook.guarded(s.id, body_sha256, key) ELSE key END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.usual_encoding(signature jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN CASE WHEN signature ->> 'scheme' = 'hmac' AND signature ->> 'hash' = 'sha256' AND signature ->> 'encoding' IN ('hex', 'base64')
    AND NOT signature ? 'each' AND coalesce(signature #>> '{timestamp,unit}', 's') = 's' THEN signature ->> 'encoding' END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.value_at(q oncehook.request, origin text, path jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  found_at jsonb := CASE origin WHEN 'header' THEN q.headers -> (path ->> 0) WHEN 'query' THEN q.query -> (path ->> 0)
    WHEN 'body' THEN q.payload #> oncehook.steps(path) WHEN 'item' THEN q.item #> oncehook.steps(path) END;
BEGIN
  RETURN CASE WHEN jsonb_typeof(found_at) IN ('string', 'number', 'boolean') THEN found_at END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.verify(source text, headers jsonb, query jsonb, body bytea, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.verify_fully(s oncehook.webhook_sources, headers jsonb, query jsonb, body bytea, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.verify_jws(s oncehook.webhook_sources, q oncehook.request, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  given text := oncehook.text_at(q, s.signature);
  prefix text := coalesce(s.signature ->> 'prefix', '');
  rule jsonb := s.signature -> 'timestamp';
  parts text[];
  head jsonb;
  claims jsonb;
  age numeric;
BEGIN
  IF coalesce(given, '') = '' THEN
    RETURN 'signature missing';
  ELSIF cardinality(s.inner_pads) = 0 THEN
    RETURN 'no secret stored';
  END IF;
  parts := CASE WHEN starts_with(given, prefix) THEN string_to_array(substr(given, length(prefix) + 1), '.') END;
  head := oncehook.read_object(oncehook.body_text(oncehook.read_bytes(parts[1], 'base64url')));
  IF cardinality(parts) IS DISTINCT FROM 3 OR head ->> 'alg' IS DISTINCT FROM s.signature ->> 'algorithm' OR head ?| '{crit,b64}'
    OR (s.signature ->> 'scheme' = 'jws' AND parts[2] <> '') THEN
    RETURN 'signature wrong';
  END IF;
  IF s.signature ->> 'scheme' = 'jws' THEN
    parts[2] := oncehook.write_mac(q.body, 'base64url');
  END IF;
  IF NOT oncehook.any_key_holds(s, parts[3:3], 'base64url', convert_to(parts[1] || '.' || parts[2], 'UTF8')) THEN
    RETURN 'signature wrong';
  ELSIF s.signature ->> 'scheme' = 'jws' THEN
    RETURN NULL;
  END IF;
  claims := oncehook.read_object(oncehook.body_text(oncehook.read_bytes(parts[2], 'base64url')));
  IF claims -> (s.signature ->> 'body_sha256') IS DISTINCT FROM to_jsonb(encode(sha256(q.body), 'hex')) THEN
    RETURN 'signature wrong';
  ELSIF jsonb_typeof(claims -> (rule ->> 'claim')) IS DISTINCT FROM 'number' THEN
    RETURN 'signature without a timestamp';
  END IF;
  age := date_part('epoch', at)::numeric - (claims ->> (rule ->> 'claim'))::numeric;
  RETURN CASE WHEN s.tolerance_seconds IS NULL THEN 'no tolerance set for the signed time'
    WHEN age > s.tolerance_seconds OR (rule ->> 'future' = 'refuse' AND -age > s.tolerance_seconds) THEN 'signature expired' END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.verify_request(s oncehook.webhook_sources, q oncehook.request, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION oncehook.verify_token(s oncehook.webhook_sources, q oncehook.request)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

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

CREATE OR REPLACE FUNCTION oncehook.write_mac(mac bytea, encoding text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  -- Postgres breaks base64 into lines.
  RETURN CASE encoding WHEN 'hex' THEN encode(mac, 'hex') WHEN 'base64' THEN translate(encode(mac, 'base64'), E'\n', '')
    WHEN 'base64url' THEN translate(encode(mac, 'base64'), E'+/=\n', '-_') END;
END $function$;

CREATE OR REPLACE FUNCTION oncehook.written_mac(written text, encoding text)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN convert_to(CASE encoding WHEN 'hex' THEN lower(written) WHEN 'base64url' THEN rtrim(written, '=') ELSE written END, 'UTF8');
END $function$;

-- Grants

GRANT EXECUTE ON FUNCTION oncehook.fail(source text, instance text, execution_id text, error text, last_node text, error_name text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.finish(key text, claim text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.receive(source text, body text, headers text, query text, recipe text, mode text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.receive_delivery(source text, body text, headers text, query text, recipe text, mode text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.receive_fetched(source text, delivery_key text, delivery_claim text, body text, recipe text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.receive_items(source text, body text, headers text, query text, recipe text, mode text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.replay(event_id text, source text, workflow text, execution_id text, instance text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.replay_delivery(event_id text, source text, workflow text, execution_id text, instance text) TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.report() TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.report_delivery() TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.report_fetched() TO oncehook_n8n;

GRANT EXECUTE ON FUNCTION oncehook.report_items() TO oncehook_n8n;

GRANT USAGE ON SCHEMA oncehook TO oncehook_n8n;

GRANT INSERT (idempotency_key, source, event_type, external_id, object_id, claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance, content_type, headers, query, body, body_sha256, payload, item) ON TABLE oncehook.webhook_events TO oncehook_n8n;
GRANT SELECT (idempotency_key, attempts, claim_hash, locked_until, item) ON TABLE oncehook.webhook_events TO oncehook_n8n;
GRANT UPDATE (status, attempts, claim_hash, claimed_at, locked_until, next_attempt_at, workflow, execution_id, instance, item) ON TABLE oncehook.webhook_events TO oncehook_n8n;
