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
