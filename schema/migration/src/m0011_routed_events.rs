//! Marks of events that were handed out to their receivers.

pub(crate) const STATEMENTS: &[&str] = &[
    // An event that is delivered again must not reach instances that began to wait since.
    "CREATE TABLE routed_events (
        id {text} NOT NULL PRIMARY KEY,
        routed_at BIGINT NOT NULL
    )",
    "CREATE INDEX routed_events_routed_at ON routed_events (routed_at)",
];
