//! Requests with an idempotency key.

pub(crate) const STATEMENTS: &[&str] = &[
    // The id is derived from the key, the caller and the route; the fingerprint from the request's
    // body and query. The answer is MessagePack; null if it is not kept.
    "CREATE TABLE requests (
        id {text} NOT NULL PRIMARY KEY,
        fingerprint {text} NOT NULL,
        answer {bytes},
        expires_at BIGINT NOT NULL
    )",
    "CREATE INDEX requests_expires_at ON requests (expires_at)",
];
