-- What this session finds on the server and may do there: one row. $1 is the database that is wanted.
SELECT
  current_setting('server_version_num')::int AS version,
  current_setting('server_version') AS version_text,
  pg_is_in_recovery() AS standby,
  r.rolname::text AS me,
  r.rolsuper OR r.rolcreatedb AS may_create_database,
  r.rolsuper OR r.rolcreaterole AS may_create_role,
  pg_get_userbyid(d.datdba)::text AS database_owner,
  coalesce(r.rolsuper OR pg_has_role(d.datdba, 'USAGE')
    OR has_database_privilege(d.oid, 'CREATE WITH GRANT OPTION'), false) AS may_grant_database,
  -- Of a schema that somebody migrated before; known in its own database alone.
  (SELECT pg_get_userbyid(n.nspowner)::text FROM pg_namespace n
   WHERE n.nspname = 'oncehook' AND current_database() = $1) AS schema_owner
FROM pg_roles r LEFT JOIN pg_database d ON d.datname = $1
WHERE r.rolname = current_user;
