-- What passes between a sender and the gate beside events: handshakes, questions, answers that repeat parts of a
-- request, and the guard against a body that comes again under another id. Only sources with rules get here
-- (`webhook_sources.rules`, made by src/providers/compile-exchange.ts). Nothing here may raise.

-- Whether a place of the request, {"from", "path"}, holds what a condition says. (Headers and parameters that came
-- several times are lists.)
CREATE FUNCTION oncehook.condition_holds(q oncehook.request, condition jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
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
END $f$;

-- Whether a request is one of those that a handshake's or a question's rule names.
CREATE FUNCTION oncehook.is_named(q oncehook.request, rule jsonb, is_get boolean) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
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
END $f$;

-- Whether a live secret of the source stands at a place of the request, or its SHA-256 in hexadecimal: what stands in
-- an address ends in logs, where the secret itself must not be. Hashes are compared, so that the time tells nothing.
CREATE FUNCTION oncehook.shows_secret(source text, q oncehook.request, place jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
DECLARE
  given text := oncehook.value_at(q, place ->> 'from', place -> 'path') #>> '{}';
BEGIN
  PERFORM FROM oncehook.webhook_secrets k
    WHERE k.source_id = source AND k.retired_at IS NULL
      AND sha256(convert_to(given, 'UTF8')) IN (k.digest, sha256(convert_to(encode(k.digest, 'hex'), 'UTF8')));
  RETURN FOUND;
END $f$;

-- HMAC-SHA256 of a text under the newest live secret of a source, in hexadecimal; null without one.
CREATE FUNCTION oncehook.mac_of(source text, message text) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
#variable_conflict use_variable
BEGIN
  RETURN (
    SELECT encode(sha256(oncehook.hmac_pad(k.secret, 92, 'sha256')
        || sha256(oncehook.hmac_pad(k.secret, 54, 'sha256') || convert_to(message, 'UTF8'))), 'hex')
      FROM oncehook.webhook_secrets k WHERE k.source_id = source AND k.retired_at IS NULL
      ORDER BY k.created_at DESC, k.name LIMIT 1);
END $f$;

-- An answer with its parts filled in: at most 1,000 characters of each value, and nothing where there is none.
CREATE FUNCTION oncehook.fill_answer(source text, answer jsonb, q oncehook.request) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $f$
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
END $f$;

-- Looks at a request before its event is named. `done`: it is none; what `report` answers has been handed on. Else
-- `answers` are those of the source for this request, and `next_mode` is the mode to go on with.
--   headers, query, body: the request; payload: the body read, where the check passed
--   reason: why the check of the signature failed, null where it passed
--   mode: n8n's executionMode, with ` GET` behind it for a request by GET
-- A handshake that need not be signed is looked for where the check failed: so it costs no event anything.
CREATE FUNCTION oncehook.exchange(s oncehook.webhook_sources, headers jsonb, query jsonb, body bytea, payload jsonb, reason text, mode text,
  OUT done boolean, OUT answers jsonb, OUT next_mode text)
LANGUAGE plpgsql VOLATILE AS $f$
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
END $f$;

-- A request that did not pass the check: rejected, unless it is a handshake that need not pass it.
CREATE FUNCTION oncehook.unchecked(s oncehook.webhook_sources, headers jsonb, query jsonb, body bytea, reason text, mode text)
RETURNS oncehook.claim
LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  IF s.rules IS NULL THEN
    RETURN oncehook.refused(s, s.id, 'rejected', reason);
  END IF;
  PERFORM oncehook.exchange(s, headers, query, body, NULL, reason, mode);
  RETURN NULL;
END $f$;

-- The row of a handshake or a question. A question's holds the request, for the nodes that decide; what they leave out
-- is answered by the refusal, which is what it says already.
CREATE FUNCTION oncehook.report_exchange(d oncehook.delivery) RETURNS oncehook.answer
LANGUAGE plpgsql STABLE AS $f$
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
END $f$;

-- The guard, for senders whose signature does not cover the header that holds the id: who saw one request could send it
-- again under another id.
CREATE TABLE oncehook.webhook_guards (
  source text NOT NULL,
  test boolean NOT NULL,
  body_sha256 bytea NOT NULL,
  idempotency_key text NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (source, test, body_sha256)
);
CREATE INDEX webhook_guards_key ON oncehook.webhook_guards (idempotency_key);
COMMENT ON TABLE oncehook.webhook_guards IS 'Which event each body belongs to, for sources with a guard: the same body under another id is that event again.';
COMMENT ON COLUMN oncehook.webhook_guards.test IS 'Whether it came by n8n''s test URL, whose keys are a space of their own.';

-- The key that counts for this body: its own, or that of the event that came with the same bytes before. A body that is
-- new is noted, in the transaction that claims its event: both stay, or neither. Whoever comes meanwhile waits here,
-- before it touches any event, so that nobody waits for each other.
CREATE FUNCTION oncehook.guarded(source text, body_sha256 bytea, key text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $f$
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
END $f$;

-- A key that is not the usual one: hashed, of n8n's test URL, or guarded. Null without a value.
CREATE FUNCTION oncehook.unusual_key(s oncehook.webhook_sources, value text, mode text, body_sha256 bytea) RETURNS text
LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
DECLARE
  key text := oncehook.idempotency_key(s.id, value, s.key_format, mode IN ('production', 'production guarded'));
BEGIN
  RETURN CASE WHEN key IS NOT NULL AND right(mode, 8) = ' guarded' THEN oncehook.guarded(s.id, body_sha256, key) ELSE key END;
END $f$;

-- Why a delivery is a copy of an event whose id it has not; null where it has.
CREATE FUNCTION oncehook.guard_reason(s oncehook.webhook_sources, value text, mode text, key text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN CASE WHEN right(mode, 8) = ' guarded' AND key <> oncehook.idempotency_key(s.id, value, s.key_format, mode = 'production guarded')
    THEN 'the same body came before, under another id' END;
END $f$;

-- A guard goes with its event.
CREATE FUNCTION oncehook.forget_guards() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF EXISTS (SELECT FROM oncehook.webhook_guards) THEN
    DELETE FROM oncehook.webhook_guards g USING gone WHERE g.idempotency_key = gone.idempotency_key;
  END IF;
  RETURN NULL;
END $f$;
CREATE TRIGGER webhook_events_guards AFTER DELETE ON oncehook.webhook_events
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION oncehook.forget_guards();
