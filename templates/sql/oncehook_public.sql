-- What everybody may do in the schema: nothing. Run after every migration, by the schema's owner; repeatable.
REVOKE ALL ON ALL TABLES IN SCHEMA oncehook FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA oncehook FROM PUBLIC;
REVOKE ALL ON SCHEMA oncehook FROM PUBLIC;
