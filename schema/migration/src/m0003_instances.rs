//! Instances.

pub(crate) const STATEMENTS: &[&str] = &[
    // `version` is the fence. `state` is MessagePack, empty while pending. `start_command` is the
    // start command in MessagePack, kept while pending. `activation_key` is held while unfinished.
    // `search` is id, name, correlation id and definition id in lowercase.
    "CREATE TABLE instances (
        id {text} NOT NULL PRIMARY KEY,
        definition_id {text} NOT NULL,
        version_id {text} NOT NULL,
        definition_version BIGINT NOT NULL,
        version BIGINT NOT NULL,
        status {text} NOT NULL,
        correlation_id {text},
        name {text},
        parent_instance_id {text},
        parent_bookmark_id {text},
        incidents BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        finished_at BIGINT,
        activation_key {text},
        search {text} NOT NULL,
        start_command {bytes},
        state {bytes} NOT NULL
    )",
    "CREATE INDEX instances_status ON instances (status, updated_at)",
    "CREATE INDEX instances_definition_id ON instances (definition_id, created_at)",
    "CREATE INDEX instances_created_at ON instances (created_at, id)",
    "CREATE INDEX instances_correlation_id ON instances (correlation_id)
        WHERE correlation_id IS NOT NULL",
    "CREATE UNIQUE INDEX instances_activation_key ON instances (activation_key)
        WHERE activation_key IS NOT NULL",
];
