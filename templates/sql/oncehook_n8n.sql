-- What n8n's role may do, and nothing else. Run after every migration and after oncehook_public.sql, by the schema's
-- owner; repeatable.
REVOKE ALL ON ALL TABLES IN SCHEMA oncehook FROM oncehook_n8n;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA oncehook FROM oncehook_n8n;
REVOKE ALL ON SCHEMA oncehook FROM oncehook_n8n;
GRANT USAGE ON SCHEMA oncehook TO oncehook_n8n;

-- The statements in the workflow's nodes.
GRANT EXECUTE ON FUNCTION
  oncehook.receive(text, text, text, text, text, text),
  oncehook.report(),
  oncehook.receive_items(text, text, text, text, text, text),
  oncehook.report_items(),
  oncehook.receive_delivery(text, text, text, text, text, text),
  oncehook.report_delivery(),
  oncehook.receive_fetched(text, text, text, text, text),
  oncehook.report_fetched(),
  oncehook.finish(text, text),
  oncehook.fail(text, text, text, text, text, text),
  oncehook.replay(text, text, text, text, text),
  oncehook.replay_delivery(text, text, text, text, text)
  TO oncehook_n8n;

-- The columns that the visible INSERT … ON CONFLICT writes. Bodies, headers, payloads, executions: written,
-- never read (whoever knows a run's execution can report it as failed).
GRANT INSERT (idempotency_key, source, event_type, external_id, object_id, content_type, headers, query, body, body_sha256, payload, item,
    claim_hash, locked_until, next_attempt_at, workflow, execution_id, instance),
  UPDATE (status, attempts, item, claim_hash, claimed_at, locked_until, next_attempt_at, workflow, execution_id, instance),
  SELECT (idempotency_key, attempts, item, claim_hash, locked_until)
  ON oncehook.webhook_events TO oncehook_n8n;
