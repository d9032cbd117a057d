//! URL tokens that are not used yet.

pub(crate) const STATEMENTS: &[&str] = &[
    // `hash` is the SHA-256 of the token; the token itself is not kept. `target` is JSON.
    "CREATE TABLE tokens (
        hash {text} NOT NULL PRIMARY KEY,
        instance_id {text} NOT NULL,
        target {text} NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
    )",
    "CREATE INDEX tokens_instance_id ON tokens (instance_id)",
];
