//! Events that were handed out to those who waited for them.

pub(crate) const STATEMENTS: &[&str] = &[
    // One that is delivered again must not reach those who came to wait since.
    "CREATE TABLE routed_events (
        id {text} NOT NULL PRIMARY KEY,
        routed_at BIGINT NOT NULL
    )",
    "CREATE INDEX routed_events_routed_at ON routed_events (routed_at)",
];
