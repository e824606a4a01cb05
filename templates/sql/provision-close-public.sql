-- In a database that is Oncehook's alone nobody needs the schema public. Before Postgres 15 a superuser owns it,
-- and the database's owner can only ask.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = 'public' AND a.grantee = 0) THEN
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
  END IF;
END $$;
