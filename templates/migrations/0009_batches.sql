-- Requests that hold several events: one request, one claim statement (templates/sql/claim-items.sql), a row back for
-- each of its events. The check is made once and over the whole request; each event has a key, a body and a place
-- in the ledger of its own.

-- A request that was opened and checked, before its events are named. `refused` is not null where it goes no further;
-- of a handshake or a question, `exchanged`, the answer has been handed on.
CREATE TYPE oncehook.opened AS (
  refused text, reason text, raw bytea, headers jsonb, query jsonb, kept_headers jsonb, kept_query jsonb,
  content text,   -- what the body says, as JSON text; null for an empty body
  payload jsonb,  -- the same for look-ups; null where jsonb cannot hold it
  damage text,    -- as in oncehook.reading; also where it was a header that had to be mended
  sender text,
  answers jsonb   -- the source's, for this request
);

-- The first half of `receive`, by the functions that expect everything: never raises for anything that a sender can
-- put into a request.
CREATE FUNCTION oncehook.open_request(s oncehook.webhook_sources, body text, headers text, query text, mode text)
RETURNS oncehook.opened
LANGUAGE plpgsql VOLATILE AS $f$
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
END $f$;

-- The second half of `receive`, for a body that is not the request's own: names the event, and looks (without a lock)
-- whether it is taken. `d` is what `report` needs, with a token where the event is to be claimed.
CREATE FUNCTION oncehook.name_event(
  s oncehook.webhook_sources, o oncehook.opened, plan jsonb, production boolean, body bytea, content_type text,
  OUT d oncehook.delivery, OUT external_id text, OUT payload jsonb)
LANGUAGE plpgsql VOLATILE AS $f$
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
END $f$;

-- One place of a body, while it is being cut: the JSON text around it, and the numbers of the list elements on the way.
CREATE TYPE oncehook.cut AS (place int[], lead text, doc json, tail text);

-- What stands at the end of a path, with the rest of the body around it: every list on the way holds that element
-- alone. NULL for more than 1,000 elements or 32 MB in all. `steps` are the names of the path, null for a list's
-- elements. Text is cut and never written anew, so that digits and escapes stay as they came. The order of things is
-- kept; of equal names on the way the last one counts, as everywhere, and the others are left out.
CREATE FUNCTION oncehook.cut_body(content json, steps text[]) RETURNS oncehook.cut[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
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
END $f$;

-- An event that was found in a request: the path that led to it, and its place on that path.
CREATE TYPE oncehook.found_item AS (path int, way text[], place int[], body text);

-- The bodies of a request's events, in the order in which they stand in it. Of several paths, an element of a later one
-- is an event only where it holds none of an earlier one. NULL where there are too many.
CREATE FUNCTION oncehook.item_bodies(content json, paths jsonb) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
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
END $f$;

-- What the INSERT of a request of several events writes for each of them.
CREATE TYPE oncehook.item_claim AS (
  key text, source text, event_type text, external_id text, object_id text, content_type text, headers jsonb, query jsonb,
  body bytea, body_sha256 bytea, payload jsonb, item int, claim_hash bytea, locked_until timestamptz, next_attempt_at timestamptz
);

-- `receive` for a request that holds several events: the ones to be claimed, in the order of their keys, so that two
-- requests with the same events never wait for each other. The first of two events of one key is claimed, the second
-- one is a duplicate. What `report_items` needs to know goes into the setting oncehook.items; where the request goes
-- no further as a whole, it goes into oncehook.delivery, as `receive` does it.
CREATE FUNCTION oncehook.receive_items(source text, body text, headers text, query text, recipe text, mode text)
RETURNS SETOF oncehook.item_claim
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- The row of one event, and what the request as a whole is answered; the same on every row.
CREATE TYPE oncehook.item_answer AS (
  outcome text, code int, answer text, content_type text, retry_after int,
  key text, claim text, attempts int, status text, reason text,
  source text, event_id text, type text, external_id text, object_id text, first_seen_at timestamptz,
  body json, headers jsonb, query jsonb,
  request_outcome text, request_code int, request_answer text, request_content_type text
);

-- A row for each event of the request that `receive_items` has read in this transaction, in the order of the request;
-- one row where there is none. The request's outcome is the best one of its events: `new` or `reclaimed` where any is
-- to be worked on.
CREATE FUNCTION oncehook.report_items() RETURNS SETOF oncehook.item_answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;
