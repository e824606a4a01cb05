-- Senders whose requests say only that something changed. Their delivery is stored under a key of its own and
-- acknowledged, so that it is never lost; n8n fetches the object; then the event is claimed under the key of what was
-- fetched, and the delivery is done. Whoever finds a delivery that is due fetches again.

-- The values that the object's address is made of: a list of texts. NULL where one is missing, or is not wholly what
-- the provider's ids are, so that nothing but an id ever stands in an address.
CREATE FUNCTION oncehook.fetch_values(rule jsonb, headers jsonb, query jsonb, reading oncehook.reading) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $f$
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
END $f$;

-- Stores a delivery: what the INSERT of its own event writes, or nulls where it goes no further.
CREATE FUNCTION oncehook.receive_delivery(source text, body text, headers text, query text, recipe text, mode text)
RETURNS oncehook.claim
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- The row of a delivery; `fetch_by` holds the values of the object's address where it is to be fetched.
CREATE TYPE oncehook.delivery_answer AS (
  outcome text, code int, answer text, content_type text, retry_after int,
  key text, claim text, attempts int, status text, reason text,
  source text, event_id text, type text, external_id text, object_id text, first_seen_at timestamptz,
  body json, headers jsonb, query jsonb,
  fetch_by jsonb
);

CREATE FUNCTION oncehook.report_delivery() RETURNS oncehook.delivery_answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  a oncehook.answer := oncehook.report();
  told oncehook.delivery_answer;
BEGIN
  SELECT a.*, CASE WHEN a.outcome = 'new' THEN nullif(current_setting('oncehook.fetch', true), '')::jsonb END INTO told;
  RETURN told;
END $f$;

-- `replay` for such a source: of an event, or of a delivery whose object is then fetched again.
CREATE FUNCTION oncehook.replay_delivery(event_id text, source text, workflow text, execution_id text, instance text)
RETURNS oncehook.delivery_answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- Names the event of a fetched object, for a run that still holds the delivery: what its INSERT writes, or nulls. The
-- object is the event's body; headers and query are the delivery's.
--   body: base64 of the object's exact bytes; recipe: the node's text, null for the source's own
CREATE FUNCTION oncehook.receive_fetched(source text, delivery_key text, delivery_claim text, body text, recipe text)
RETURNS oncehook.claim
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- The row of a fetched object's event. Once the event is claimed, is another run's, or is kept as a dead letter, its
-- delivery has done its work, in the same transaction.
CREATE FUNCTION oncehook.report_fetched() RETURNS oncehook.answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  a oncehook.answer := oncehook.report();
  held jsonb := nullif(current_setting('oncehook.fetched', true), '');
BEGIN
  IF held IS NOT NULL AND a.outcome <> 'unavailable' THEN
    -- By its fencing token: nobody can end a delivery that he does not hold.
    PERFORM oncehook.finish(held ->> 'key', held ->> 'claim');
  END IF;
  RETURN a;
END $f$;
