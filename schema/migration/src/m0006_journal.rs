//! The journal: one row per burst.

pub(crate) const STATEMENTS: &[&str] = &[
    // `entries` is MessagePack: `entry_count` entries, numbered from `first_sequence`.
    "CREATE TABLE journal (
        instance_id {text} NOT NULL,
        first_sequence BIGINT NOT NULL,
        entry_count BIGINT NOT NULL,
        entries {bytes} NOT NULL,
        PRIMARY KEY (instance_id, first_sequence)
    )",
];
