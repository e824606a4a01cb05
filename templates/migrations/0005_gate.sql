-- The gate: what stands behind the one statement in the node "Claim event" (templates/sql/claim.sql).

-- A delivery as the gate has read it. `refused` null: it may be claimed. Else `taken` (a duplicate),
-- `unkeyed`, `rejected`, or `unavailable` (the gate itself is not set up: the sender must retry).
CREATE TYPE oncehook.delivery AS (
  refused text, reason text,
  source text, key text, event_type text, external_id text, object_id text,
  content_type text, headers jsonb, query jsonb, body bytea, body_sha256 bytea, payload jsonb, content text,
  token text, claim_hash bytea, locked_until timestamptz, sender text,
  event_id bigint, status text, taken_sha256 bytea,
  ack text, answers jsonb
);

-- What the workflow gets: always one row.
CREATE TYPE oncehook.answer AS (
  outcome text, code int, answer text, content_type text, retry_after int,
  key text, claim text, attempts int, status text, reason text,
  source text, event_id text, type text, external_id text, object_id text, first_seen_at timestamptz,
  body json, headers jsonb, query jsonb
);

-- Headers or query parameters without the values of credentials; none of what is no object.
CREATE FUNCTION oncehook.redact(named jsonb, names text[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
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
END $f$;

-- Reads one delivery: exact bytes, signature, key, and a look (without a lock) whether its event is
-- taken already. Never raises for anything that a sender can put into a request.
--   body: base64 of the exact bytes, null where n8n had none (multipart)
--   headers, query: JSON text of objects; recipe: the node's text, null for the source's own
--   mode: n8n's executionMode; everything but `production` keys in a space of its own
CREATE FUNCTION oncehook.receive(source text, body text, headers text, query text, recipe text, mode text)
RETURNS oncehook.delivery
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
  sender text;
BEGIN
  SELECT * INTO s FROM oncehook.webhook_sources w WHERE w.id = source;
  IF s.active IS NOT TRUE OR body IS NULL THEN
    -- Without its bytes a delivery can neither be checked nor kept, so it must not be acknowledged.
    RETURN oncehook.refused(s, source, CASE WHEN s.id IS NULL THEN 'unavailable' ELSE 'rejected' END,
      CASE WHEN s.id IS NULL THEN 'source not in the ledger: run `oncehook migrate`'
        WHEN s.active THEN 'no body that n8n could hand on byte for byte (multipart?)'
        ELSE 'source switched off' END);
  END IF;

  BEGIN
    raw := decode(body, 'base64');
    head := coalesce(headers, '{}')::jsonb;
    params := query::jsonb;
    reason := oncehook.verify(s, head, raw, now());
    IF reason IS NULL THEN
      content := convert_from(raw, 'UTF8');
      payload := content::jsonb;
    END IF;
  EXCEPTION WHEN OTHERS THEN
    -- Something is not as it usually is: the same again by functions that expect everything.
    raw := oncehook.read_base64(body);
    IF raw IS NULL THEN
      RETURN oncehook.refused(s, source, 'unavailable', 'what the node Raw body handed on is not base64');
    END IF;
    head := oncehook.read_object(headers);
    params := oncehook.read_object(query);
    reason := oncehook.verify(s, head, raw, now());
    IF reason IS NULL THEN
      r := oncehook.read_body(raw, head ->> 'content-type');
      content := r.content;
      payload := r.payload;
      damage := coalesce(r.damage, 'escapes'); -- it may have been a header
      doc := CASE WHEN payload IS NULL THEN content::json END;
    END IF;
  END;
  IF reason IS NOT NULL THEN
    RETURN oncehook.refused(s, source, 'rejected', reason);
  END IF;
  sha := sha256(raw);
  -- The address that a proxy added last; without a proxy n8n tells none.
  sender := left(coalesce(head ->> 'x-real-ip', btrim(split_part(head ->> 'x-forwarded-for', ',', -1))), 64);

  -- One lone body placeholder that finds a string or a number; everything else by the whole plan.
  IF damage IS NOT NULL OR recipe <> s.key_recipe THEN
    plan := oncehook.compile_recipe(coalesce(recipe, s.key_recipe));
    IF plan IS NULL THEN
      RETURN oncehook.refused(s, source, 'unavailable', 'the recipe in the node Idempotency key cannot be read');
    END IF;
    value := oncehook.evaluate(plan, head, params, payload, doc, sha, damage);
  ELSE
    value := CASE WHEN jsonb_typeof(payload #> s.key_path) IN ('string', 'number') AND payload #>> s.key_path <> ''
      THEN payload #>> s.key_path ELSE oncehook.evaluate(s.key_plan, head, params, payload, doc, sha, NULL) END;
  END IF;
  IF value IS NOT NULL THEN
    key := oncehook.idempotency_key(s.id, value, s.key_format, mode = 'production');
    SELECT e.id, e.status, e.body_sha256 INTO taken_id, taken_status, taken_sha
      FROM oncehook.webhook_events e WHERE e.idempotency_key = key AND e.locked_until >= now();
    IF taken_id IS NULL THEN
      token := gen_random_uuid();
    END IF;
  END IF;
  -- What is acknowledged must be on disk, whatever this database's default is. An audit row may be lost
  -- with the server (unless a claim of the same transaction would be lost with it): the claim that it tells
  -- of is on disk already.
  IF taken_id IS NOT NULL OR current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    setting := set_config('synchronous_commit', CASE WHEN taken_id IS NOT NULL AND pg_current_xact_id_if_assigned() IS NULL THEN 'off' ELSE 'on' END, true);
  END IF;
  IF token IS NULL AND taken_sha = sha THEN
    -- The common duplicate: nothing of it is needed any more but who sent it.
    RETURN ROW('taken', NULL, source, key, NULL, NULL, NULL, NULL, NULL, NULL, NULL, sha, NULL, NULL, NULL, NULL, NULL,
      sender,
      taken_id, taken_status, taken_sha, s.ack, s.answers)::oncehook.delivery;
  END IF;
  IF token IS NOT NULL OR value IS NULL THEN
    type := CASE WHEN s.type_plan IS NULL THEN NULL
      WHEN damage IS NULL AND jsonb_typeof(payload #> s.type_path) = 'string' THEN left(payload #>> s.type_path, 512)
      ELSE left(oncehook.evaluate(s.type_plan, head, params, payload, doc, sha, damage), 512) END;
    object := CASE WHEN s.object_plan IS NULL THEN NULL
      WHEN damage IS NULL AND jsonb_typeof(payload #> s.object_path) = 'string' THEN left(payload #>> s.object_path, 512)
      ELSE left(oncehook.evaluate(s.object_plan, head, params, payload, doc, sha, damage), 512) END;
    IF head ?| s.credential_names OR params ?| s.credential_names THEN
      head := oncehook.redact(head, s.credential_names);
      params := oncehook.redact(params, s.credential_names);
    END IF;
  END IF;
  RETURN ROW(
    CASE WHEN value IS NULL THEN 'unkeyed' WHEN token IS NULL THEN 'taken' END,
    CASE WHEN value IS NOT NULL THEN NULL
      WHEN content IS NULL THEN 'no id in the headers, and no body'
      ELSE 'no stable id where the recipe looks' END,
    source, key, type, CASE WHEN s.key_format = 'plain' THEN left(value, 512) END, object,
    head ->> 'content-type', head, params, raw, sha, payload, content,
    token, CASE WHEN token IS NOT NULL THEN sha256(convert_to(token, 'UTF8')) END, now() + s.lease,
    sender,
    taken_id, taken_status, taken_sha, s.ack, s.answers)::oncehook.delivery;
END $f$;

-- A delivery that goes no further.
CREATE FUNCTION oncehook.refused(s oncehook.webhook_sources, source text, refused text, reason text) RETURNS oncehook.delivery
LANGUAGE plpgsql IMMUTABLE AS $f$
DECLARE
  d oncehook.delivery;
BEGIN
  d.source := source;
  d.refused := refused;
  d.reason := reason;
  d.answers := s.answers;
  RETURN d;
END $f$;

-- A payload without the paths that the provider changes from one delivery to the next.
CREATE FUNCTION oncehook.without(payload jsonb, paths jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  FOR i IN 0 .. jsonb_array_length(paths) - 1 LOOP
    payload := payload #- ARRAY(SELECT jsonb_array_elements_text(paths -> i));
  END LOOP;
  RETURN payload;
END $f$;

-- An answer in the provider's own wording, where its file has one for this outcome. A 503 is not negotiable.
CREATE FUNCTION oncehook.answer_as(a oncehook.answer, answers jsonb) RETURNS oncehook.answer
LANGUAGE plpgsql IMMUTABLE AS $f$
BEGIN
  IF answers ? a.outcome AND a.code <> 503 THEN
    a.code := coalesce((answers -> a.outcome ->> 'status')::int, a.code);
    a.answer := coalesce(answers -> a.outcome ->> 'body', a.answer);
    a.content_type := coalesce(answers -> a.outcome ->> 'content_type', a.content_type);
  END IF;
  RETURN a;
END $f$;

-- Whether two bodies of one event say the same, but for what the provider changes from one delivery to
-- the next. (The paths come from the event's source and not from the caller, for whom it would be a way to
-- find out a stored body part by part.)
CREATE FUNCTION oncehook.same_but_volatile(event_id bigint, payload jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
DECLARE
  stored jsonb;
  paths jsonb;
BEGIN
  SELECT e.payload, s.volatile INTO stored, paths
    FROM oncehook.webhook_events e JOIN oncehook.webhook_sources s ON s.id = e.source WHERE e.id = event_id;
  RETURN CASE WHEN paths <> '[]' THEN coalesce(oncehook.without(stored, paths) = oncehook.without(payload, paths), false) ELSE false END;
END $f$;

-- The answer for a delivery, and the bookkeeping of those that were not claimed. `event_id` and
-- `attempts` are what the claim's INSERT returned: null where it took nothing. VOLATILE, so that it sees
-- what was committed while the INSERT waited for another one.
CREATE FUNCTION oncehook.report(d oncehook.delivery, event_id bigint, attempts int) RETURNS oncehook.answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  a oncehook.answer;
  first_seen timestamptz;
  outcome text;
BEGIN
  IF attempts IS NOT NULL THEN
    IF attempts > 1 THEN
      -- The work goes on with what came now, so that is what the ledger must hold. The condition keeps
      -- n8n's role from changing an event that it does not hold.
      UPDATE oncehook.webhook_events e
        SET body = d.body, body_sha256 = d.body_sha256, payload = d.payload, content_type = d.content_type,
          headers = d.headers, query = d.query, event_type = d.event_type, object_id = d.object_id
        WHERE e.id = event_id AND e.claim_hash = sha256(convert_to(d.token, 'UTF8')) AND e.status = 'processing' RETURNING e.first_seen_at INTO first_seen;
    END IF;
    a := ROW(CASE WHEN attempts = 1 THEN 'new' ELSE 'reclaimed' END, 200,
      '{"ok":true,"duplicate":false,"key":' || to_json(d.key) || '}', 'application/json; charset=utf-8', NULL,
      d.key, d.token, attempts, 'processing', NULL,
      d.source, event_id, d.event_type, d.external_id, d.object_id, coalesce(first_seen, now()), d.content, d.headers, d.query);
  ELSIF d.key IS NOT NULL THEN
    IF d.event_id IS NULL THEN
      -- Taken while the INSERT waited. No row: it was final, and retention took it in this very moment.
      SELECT e.id, e.status, e.body_sha256 INTO d.event_id, d.status, d.taken_sha256
        FROM oncehook.webhook_events e WHERE e.idempotency_key = d.key;
    END IF;
    outcome := CASE WHEN d.taken_sha256 <> d.body_sha256 AND NOT oncehook.same_but_volatile(d.event_id, d.payload)
      THEN 'mismatch' ELSE 'duplicate' END;
    INSERT INTO oncehook.webhook_duplicates (event_id, source, source_ip, outcome, body_sha256, body)
      SELECT d.event_id, d.source, d.sender, outcome, d.body_sha256, CASE WHEN outcome = 'mismatch' THEN d.body END
      WHERE d.event_id IS NOT NULL;
    a := ROW(outcome, 200,
      '{"ok":true,"duplicate":true,"message":"event already accepted","key":' || to_json(d.key) || ',"status":"'
        || coalesce(d.status, 'success') || CASE WHEN outcome = 'mismatch' THEN '","mismatch":true}' ELSE '"}' END,
      'application/json; charset=utf-8', NULL,
      d.key, NULL, NULL, coalesce(d.status, 'success'), NULL, d.source, d.event_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    IF d.ack = 'after-success' AND d.status IN ('received', 'processing', 'failed') THEN
      -- The work is not done, and the sender has no answer that says so: this sender's retry is the plan.
      a.code := 503;
      a.retry_after := 10;
      a.answer := '{"ok":false,"duplicate":true,"error":"still processing","key":' || to_json(d.key) || '}';
    END IF;
  ELSIF d.refused = 'unkeyed' THEN
    INSERT INTO oncehook.webhook_dead_letters AS q (source, kind, reason, content_type, headers, query, body, body_sha256)
      VALUES (d.source, 'reception', d.reason, d.content_type, d.headers, d.query, d.body, d.body_sha256)
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
  ELSE
    a.outcome := 'unavailable';
    a.code := 503;
    a.retry_after := 60;
    a.answer := '{"ok":false,"error":"unavailable"}';
  END IF;
  IF attempts IS NULL AND d.key IS NULL THEN
    a.content_type := 'application/json; charset=utf-8';
    a.source := d.source;
    a.reason := d.reason;
  END IF;
  IF d.answers IS NULL OR d.answers = '{}' THEN
    RETURN a;
  END IF;
  RETURN oncehook.answer_as(a, d.answers);
END $f$;
