//! Messages that are committed and not published yet.

pub(crate) const STATEMENTS: &[&str] = &[
    // `message` is MessagePack.
    "CREATE TABLE outbox (
        id {text} NOT NULL PRIMARY KEY,
        instance_id {text} NOT NULL,
        created_at BIGINT NOT NULL,
        message {bytes} NOT NULL
    )",
    "CREATE INDEX outbox_created_at ON outbox (created_at)",
];
