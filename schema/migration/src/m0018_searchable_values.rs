//! Searchable values: instances are found by the values of variables that their definitions name.

pub(crate) const STATEMENTS: &[&str] = &[
    // One row for each searchable variable that has a value. `sort_key` is the value in a form that
    // sorts by bytes; its first character is the kind. The rows go with their instance, also when a
    // program that does not know this table removes it.
    "CREATE TABLE searchable_values (
        instance_id {text} NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
        name {text} NOT NULL,
        definition_id {text} NOT NULL,
        sort_key {text} NOT NULL,
        PRIMARY KEY (instance_id, name)
    )",
    // Has every column that a filter reads.
    "CREATE INDEX searchable_values_sort_key
        ON searchable_values (name, sort_key, definition_id, instance_id)",
    // The kinds of the searchable variables by name, in JSON.
    "ALTER TABLE definitions ADD COLUMN searchable {text}",
    "CREATE INDEX definitions_searchable ON definitions (definition_id)
        WHERE searchable IS NOT NULL",
];
