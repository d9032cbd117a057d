//! Payloads: large contents beside the instances that refer to them.

pub(crate) const STATEMENTS: &[&str] = &[
    // `hash` and `size` are there once all parts are.
    "CREATE TABLE payloads (
        id {text} NOT NULL PRIMARY KEY,
        hash {text},
        size BIGINT NOT NULL,
        touched_at BIGINT NOT NULL
    )",
    "CREATE UNIQUE INDEX payloads_hash ON payloads (hash) WHERE hash IS NOT NULL",
    "CREATE INDEX payloads_touched_at ON payloads (touched_at, id)",
    "CREATE TABLE payload_parts (
        payload_id {text} NOT NULL REFERENCES payloads (id) ON DELETE CASCADE,
        number BIGINT NOT NULL,
        bytes {bytes} NOT NULL,
        PRIMARY KEY (payload_id, number)
    )",
    // The rows go with their instance, also when a program that does not know this table removes it.
    "CREATE TABLE payload_uses (
        hash {text} NOT NULL,
        instance_id {text} NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
        PRIMARY KEY (hash, instance_id)
    )",
    "CREATE INDEX payload_uses_instance ON payload_uses (instance_id)",
];
