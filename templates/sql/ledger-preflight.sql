-- What decides whether this session may migrate this database: one row.
SELECT
  current_setting('server_version_num')::int AS version,
  current_setting('server_version') AS version_text,
  pg_is_in_recovery() AS standby,
  current_setting('transaction_read_only') = 'on' AS read_only,
  current_database()::text AS database,
  current_user::text AS role,
  has_database_privilege(current_database(), 'CREATE') AS may_create,
  n.oid IS NOT NULL AS has_schema,
  pg_get_userbyid(n.nspowner)::text AS schema_owner,
  coalesce(has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'), false) AS may_use_schema,
  m.oid IS NOT NULL AS has_bookkeeping,
  pg_get_userbyid(m.relowner)::text AS bookkeeping_owner,
  coalesce(pg_has_role(m.relowner, 'USAGE'), true) AS owns_bookkeeping,
  EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid) AS schema_in_use
FROM (SELECT) AS one
LEFT JOIN pg_namespace n ON n.nspname = 'oncehook'
LEFT JOIN pg_class m ON m.relnamespace = n.oid AND m.relname = 'migrations';
