-- Which migrations were applied. node-pg-migrate writes name and run_on; the digest of the file comes from
-- the setting that Oncehook makes in the same transaction, so that neither is ever there without the other.
CREATE TABLE oncehook.migrations (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  run_on timestamptz NOT NULL,
  sha256 text NOT NULL DEFAULT current_setting('oncehook.migration_sha256') CHECK (sha256 ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE oncehook.migrations IS 'The migrations that were applied, with the SHA-256 of each file at that time.';
