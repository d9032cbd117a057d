//! Secrets, and what the audit log says about a request.

pub(crate) const STATEMENTS: &[&str] = &[
    // Keys are wrapped by a master key that the database does not have; tags are JSON.
    "CREATE TABLE secrets (
        name {text} NOT NULL PRIMARY KEY,
        id {text} NOT NULL,
        display_name {text} NOT NULL,
        description {text},
        type_name {text} NOT NULL,
        scope {text},
        tags {text} NOT NULL,
        is_revoked BOOLEAN NOT NULL,
        version BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT,
        expires_at BIGINT,
        wrapped_key {text} NOT NULL,
        ciphertext {text} NOT NULL
    )",
    "ALTER TABLE audit ADD COLUMN address {text}",
    "ALTER TABLE audit ADD COLUMN is_refused BOOLEAN",
    "CREATE INDEX audit_who ON audit (who, at, id)",
    "CREATE INDEX audit_what ON audit (what, at, id)",
];
