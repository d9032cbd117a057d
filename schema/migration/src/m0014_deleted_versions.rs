//! Definition versions that were deleted. A start that still names one is refused.

pub(crate) const STATEMENTS: &[&str] = &[
    // One short row for each deletion, kept for ever: a node may have the program in its cache.
    "CREATE TABLE deleted_versions (
        version_id {text} NOT NULL PRIMARY KEY,
        definition_id {text} NOT NULL
    )",
];
