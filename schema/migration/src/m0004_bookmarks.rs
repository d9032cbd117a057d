//! Open bookmarks.

pub(crate) const STATEMENTS: &[&str] = &[
    // `payload` is JSON. `route_template` is the path of an HTTP endpoint with parameters.
    "CREATE TABLE bookmarks (
        id {text} NOT NULL,
        instance_id {text} NOT NULL,
        definition_id {text} NOT NULL,
        correlation_id {text},
        shard INTEGER NOT NULL,
        name {text} NOT NULL,
        hash {text} NOT NULL,
        activity_id {text} NOT NULL,
        activity_node_id {text} NOT NULL,
        activity_instance_id {text} NOT NULL,
        payload {text} NOT NULL,
        route_template {text},
        created_at BIGINT NOT NULL,
        due_at BIGINT,
        PRIMARY KEY (id, instance_id)
    )",
    "CREATE UNIQUE INDEX bookmarks_place ON bookmarks (instance_id, activity_instance_id, hash)",
    "CREATE INDEX bookmarks_hash ON bookmarks (hash)",
    "CREATE INDEX bookmarks_due ON bookmarks (due_at, shard) WHERE due_at IS NOT NULL",
    "CREATE INDEX bookmarks_correlation_id ON bookmarks (correlation_id)
        WHERE correlation_id IS NOT NULL",
    "CREATE INDEX bookmarks_route_template ON bookmarks (route_template)
        WHERE route_template IS NOT NULL",
];
