//! Requests with an idempotency key.

pub(crate) const STATEMENTS: &[&str] = &[
    // The id stands for the key, the caller and the route; the fingerprint for the request's body
    // and query. The answer is MessagePack; none where it is not kept.
    "CREATE TABLE requests (
        id {text} NOT NULL PRIMARY KEY,
        fingerprint {text} NOT NULL,
        answer {bytes},
        expires_at BIGINT NOT NULL
    )",
    "CREATE INDEX requests_expires_at ON requests (expires_at)",
];
