-- The gate: what stands behind the two statements in the node "Claim event" (templates/sql/claim.sql). The
-- first claims, the second tells what came of it; they are sent as one message, so they are one transaction.

-- What the claim's INSERT writes. All null: there is nothing to claim.
CREATE TYPE oncehook.claim AS (
  key text, source text, event_type text, external_id text, object_id text, content_type text, headers jsonb, query jsonb,
  body bytea, body_sha256 bytea, payload jsonb, claim_hash bytea, locked_until timestamptz, next_attempt_at timestamptz
);

-- What `receive` hands on to `report`, in the setting oncehook.delivery: written as text and read again for every
-- delivery, so it holds nothing that few need. `refused` null: it may have been claimed, under `token`. Else `taken`
-- (a duplicate), `unkeyed`, `rejected`, `handshake`, `question`, or `unavailable` (the gate itself is not set up: the
-- sender must retry).
-- Beside it, for all but the common duplicate: oncehook.body (the body's text; of a `damaged` one the base64 of its
-- bytes), oncehook.headers and oncehook.query (as n8n gave them; the row of a new event has them redacted).
CREATE TYPE oncehook.delivery AS (
  refused text, reason text,
  source text, key text, event_type text, object_id text,
  content_type text, body_sha256 bytea, damaged boolean, token text, sender text,
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

-- The address that a proxy added last; without a proxy n8n tells none.
-- Plain SQL and called with a variable, so that Postgres writes it into the caller's expression.
CREATE FUNCTION oncehook.sender(headers jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN left(coalesce(headers ->> 'x-real-ip', btrim(split_part(headers ->> 'x-forwarded-for', ',', -1))), 64);

-- Reads one delivery: exact bytes, signature, key, and a look (without a lock) whether its event is
-- taken already. Gives what is to be claimed, or nulls; what `report` needs to know goes into settings that
-- end with the transaction. Never raises for anything that a sender can put into a request.
--   body: base64 of the exact bytes, null where n8n had none (multipart)
--   headers, query: JSON text of objects; recipe: the node's text, null for the source's own
--   mode: n8n's executionMode; everything but `production` keys in a space of its own. ` GET` behind it: the method
CREATE FUNCTION oncehook.receive(source text, body text, headers text, query text, recipe text, mode text)
RETURNS oncehook.claim
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
END $f$;

-- The exact bytes of the delivery that `receive` has read in this transaction.
CREATE FUNCTION oncehook.delivered_bytes(damaged boolean) RETURNS bytea
LANGUAGE plpgsql STABLE AS $f$
BEGIN
  RETURN CASE WHEN damaged THEN decode(current_setting('oncehook.body'), 'base64') ELSE convert_to(current_setting('oncehook.body'), 'UTF8') END;
END $f$;

-- Its headers or query parameters, as the ledger may keep them.
CREATE FUNCTION oncehook.delivered_object(setting text, source text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
BEGIN
  RETURN (SELECT oncehook.redact(oncehook.read_object(current_setting(setting)), s.credential_names)
    FROM oncehook.webhook_sources s WHERE s.id = source);
END $f$;

-- A delivery that goes no further.
CREATE FUNCTION oncehook.refused(s oncehook.webhook_sources, source text, refused text, reason text) RETURNS oncehook.claim
LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  d oncehook.delivery;
BEGIN
  d.source := source;
  d.refused := refused;
  d.reason := reason;
  d.answers := s.answers;
  PERFORM set_config('oncehook.delivery', d::text, true);
  RETURN NULL;
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

-- The answer for the delivery that `receive` has read in this transaction, and the bookkeeping of those that
-- were not claimed. It is a statement of its own, so it sees what was committed while the INSERT waited.
CREATE FUNCTION oncehook.report() RETURNS oncehook.answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- The answer for a delivery without an event. Without a delivery (the first statement was taken out of the
-- node) nothing may be acknowledged.
CREATE FUNCTION oncehook.report_refused(d oncehook.delivery) RETURNS oncehook.answer
LANGUAGE plpgsql VOLATILE AS $f$
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
END $f$;
