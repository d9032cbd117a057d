//! The id of the cluster that this database belongs to; an index for the tokens that have expired.

pub(crate) const STATEMENTS: &[&str] = &[
    // One row at most, written by the first node that opens the database and never changed.
    "CREATE TABLE cluster (
        one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
        id {text} NOT NULL
    )",
    "CREATE INDEX tokens_expires_at ON tokens (expires_at)",
];
