//! API keys.

pub(crate) const STATEMENTS: &[&str] = &[
    // `hash` is the SHA-256 of the key; the key itself is not kept. `permissions` is JSON.
    "CREATE TABLE api_keys (
        id {text} NOT NULL PRIMARY KEY,
        name {text} NOT NULL,
        hash {text} NOT NULL,
        permissions {text} NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT
    )",
    "CREATE INDEX api_keys_hash ON api_keys (hash)",
];
