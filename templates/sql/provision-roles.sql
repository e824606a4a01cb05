-- One row for each of the roles $1 that exists. $2 is the database that they are for.
SELECT
  r.rolname::text AS name,
  me.rolsuper OR me.rolcreaterole
    AND (current_setting('server_version_num')::int < 160000 OR pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION')) AS administered,
  coalesce((SELECT pg_has_role(r.oid, n.nspowner, 'USAGE') FROM pg_namespace n
    WHERE n.nspname = 'oncehook' AND current_database() = $2), true) AS may_migrate,
  coalesce(bool_or(used.name = $2), false) AS used_here,
  coalesce(array_agg(used.name ORDER BY used.name) FILTER (WHERE used.name <> $2), '{}') AS used_elsewhere
FROM pg_roles r
JOIN pg_roles me ON me.rolname = current_user
LEFT JOIN LATERAL (
  -- What a role owns or is granted, in which database: the one catalogue that knows of all of them.
  SELECT DISTINCT d.datname::text AS name
  FROM pg_shdepend s
  JOIN pg_database d ON d.oid = CASE WHEN s.dbid = 0 THEN s.objid ELSE s.dbid END
  WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = r.oid
    AND (s.dbid <> 0 OR s.classid = 'pg_database'::regclass)
) used ON true
WHERE r.rolname = ANY ($1::text[])
GROUP BY r.oid, r.rolname, me.rolsuper, me.rolcreaterole;
