-- What a session that migrates must not inherit from the role or the database.
SET search_path = '';
SET default_transaction_isolation = 'read committed';
SET client_min_messages = 'warning';
SET statement_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
