//! Definition versions, and the triggers of the published ones.

pub(crate) const STATEMENTS: &[&str] = &[
    // `document` is the definition in JSON; the flags in columns take precedence over the document.
    // `search` is its name and id in lowercase.
    "CREATE TABLE definitions (
        id {text} NOT NULL PRIMARY KEY,
        definition_id {text} NOT NULL,
        version BIGINT NOT NULL,
        name {text},
        search {text} NOT NULL,
        is_latest BOOLEAN NOT NULL,
        is_published BOOLEAN NOT NULL,
        is_system BOOLEAN NOT NULL,
        created_at BIGINT,
        document {text} NOT NULL
    )",
    "CREATE UNIQUE INDEX definitions_version ON definitions (definition_id, version)",
    "CREATE UNIQUE INDEX definitions_latest ON definitions (definition_id) WHERE is_latest",
    "CREATE UNIQUE INDEX definitions_published ON definitions (definition_id) WHERE is_published",
    "CREATE INDEX definitions_name ON definitions (name)",
    "CREATE INDEX definitions_created_at ON definitions (created_at)",
    // `payload` is JSON.
    "CREATE TABLE triggers (
        definition_id {text} NOT NULL,
        activity_id {text} NOT NULL,
        hash {text} NOT NULL,
        version_id {text} NOT NULL,
        name {text} NOT NULL,
        payload {text} NOT NULL,
        PRIMARY KEY (definition_id, activity_id, hash)
    )",
    "CREATE INDEX triggers_hash ON triggers (hash)",
    "CREATE INDEX triggers_name ON triggers (name)",
    "CREATE INDEX triggers_version_id ON triggers (version_id)",
];
