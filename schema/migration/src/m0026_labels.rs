//! Labels of definitions.

pub(crate) const STATEMENTS: &[&str] = &[
    // `normalized_name` is the name in lower case; `color` is `#rrggbb`.
    "CREATE TABLE labels (
        id {text} NOT NULL PRIMARY KEY,
        name {text} NOT NULL,
        normalized_name {text} NOT NULL,
        description {text},
        color {text}
    )",
    "CREATE UNIQUE INDEX labels_name ON labels (normalized_name)",
    // The labels of each version. A new version takes along those of the latest one.
    "CREATE TABLE definition_labels (
        version_id {text} NOT NULL,
        label_id {text} NOT NULL,
        definition_id {text} NOT NULL,
        PRIMARY KEY (version_id, label_id)
    )",
    "CREATE INDEX definition_labels_label ON definition_labels (label_id, version_id)",
    "CREATE INDEX definition_labels_definition ON definition_labels (definition_id)",
];
