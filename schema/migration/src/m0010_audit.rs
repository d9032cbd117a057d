//! The audit log.

pub(crate) const STATEMENTS: &[&str] = &[
    // `details` is JSON.
    "CREATE TABLE audit (
        id {number},
        at BIGINT NOT NULL,
        who {text} NOT NULL,
        what {text} NOT NULL,
        target {text} NOT NULL,
        details {text} NOT NULL
    )",
    "CREATE INDEX audit_at ON audit (at, id)",
];
