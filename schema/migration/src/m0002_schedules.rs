//! Schedules of published definitions.

pub(crate) const STATEMENTS: &[&str] = &[
    // `recurrence` and `misfire` are JSON. A retired row belongs to no published version; it
    // stays so that its `occurrence` never counts the same occurrence twice.
    "CREATE TABLE schedules (
        id {text} NOT NULL PRIMARY KEY,
        definition_id {text} NOT NULL,
        version_id {text} NOT NULL,
        activity_id {text} NOT NULL,
        recurrence {text} NOT NULL,
        misfire {text} NOT NULL,
        next_at BIGINT,
        occurrence BIGINT NOT NULL,
        shard INTEGER NOT NULL,
        retired BOOLEAN NOT NULL
    )",
    "CREATE INDEX schedules_due ON schedules (next_at, shard)
        WHERE next_at IS NOT NULL AND NOT retired",
    "CREATE INDEX schedules_definition_id ON schedules (definition_id)",
    "CREATE INDEX schedules_version_id ON schedules (version_id)",
];
