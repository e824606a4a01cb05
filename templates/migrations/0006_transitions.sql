-- What becomes of a claimed event: completed, failed, taken anew. Each answers with one row, always.

CREATE TYPE oncehook.transition AS (status text, explanation text);

-- What these functions tell must be on disk when they have told it, whatever the database's default is: a
-- completion that the server forgot would be work done twice.
CREATE FUNCTION oncehook.durably() RETURNS void
LANGUAGE plpgsql AS $f$
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $f$;

-- Completes an event. Only the run whose fencing token is the event's latest can: one that another run
-- overtook is told so. Calling twice is calling once.
CREATE FUNCTION oncehook.finish(key text, claim text) RETURNS oncehook.transition
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- When a failed event is due again: 30 s doubled by each attempt, between half and one and a half of it.
CREATE FUNCTION oncehook.backoff(attempts int) RETURNS interval
LANGUAGE sql VOLATILE PARALLEL SAFE AS $f$
  SELECT interval '30 seconds' * pg_catalog.power(2, least(attempts, 10)) * (0.5 + pg_catalog.random())
$f$;

-- Marks what a failed run had claimed, found by execution, instance and source, for the Error Trigger
-- knows no token. A run that n8n calls crashed may be alive (its crash recovery says so of every run
-- that another process was at): the lease alone recovers those. A run that failed in "Mark success" has
-- done its work. Of several events of one request it works on one after the other: the first that it still
-- holds is the one that failed, and the others, which had no turn, are due at once and never given up for it.
CREATE FUNCTION oncehook.fail(source text, instance text, execution_id text, error text, last_node text, error_name text)
RETURNS oncehook.transition
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- Takes an event anew for a run that was started with its id and not with a delivery: the same row as
-- the claim of a delivery gives. Takes nothing that is final or held under a lease.
CREATE FUNCTION oncehook.replay(event_id text, source text, workflow text, execution_id text, instance text)
RETURNS oncehook.answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
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
END $f$;

-- Who may not delete from the ledger (n8n's role) may change it in one way: take an event whose lock has
-- ended. Everything else goes through the functions above, which run as the owner.
CREATE FUNCTION oncehook.refuse_transition() RETURNS trigger
LANGUAGE plpgsql AS $f$
BEGIN
  RAISE EXCEPTION 'oncehook: % may take an event whose lock has ended, and do nothing else to it', current_user
    USING ERRCODE = 'insufficient_privilege';
END $f$;

CREATE TRIGGER webhook_events_guard BEFORE UPDATE ON oncehook.webhook_events FOR EACH ROW
  WHEN (NOT (OLD.locked_until < now() AND NEW.locked_until < 'infinity' AND NEW.status = 'processing'
      AND NEW.attempts = OLD.attempts + 1 AND NEW.claim_hash IS DISTINCT FROM OLD.claim_hash)
    AND NOT has_table_privilege(current_user, 'oncehook.webhook_events', 'DELETE'))
  EXECUTE FUNCTION oncehook.refuse_transition();
