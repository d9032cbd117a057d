-- Runs once, as the owner, when the database is made: the role of the nodes, which reads and writes
-- rows and cannot change the schema.
\set password `cat /secrets/postgres/service-password`
CREATE ROLE staunch LOGIN PASSWORD :'password';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO staunch;
ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO staunch;
ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO staunch;

-- The nodes read the audit log and add to it, and cannot change or remove an entry. Its table comes with the
-- first migration. Where `retain-audit` is set, the nodes have to remove old entries:
-- GRANT DELETE ON audit TO staunch;
CREATE FUNCTION public.audit_is_append_only() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.audit') THEN
        REVOKE UPDATE, DELETE ON public.audit FROM staunch;
    END IF;
END $$;
CREATE EVENT TRIGGER audit_is_append_only ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
    EXECUTE FUNCTION public.audit_is_append_only();
