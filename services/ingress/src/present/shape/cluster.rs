//! Figures of the cluster.

use utoipa::ToSchema;

/// The leases on instances.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldLeases {
    /// The oldest first.
    items: Vec<HeldLease>,
    total_count: u64,
    /// Those of nodes that do not live.
    stale: u64,
    /// Those that another node waits for.
    contended: u64,
}

/// A lease on an instance.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldLease {
    workflow_instance_id: String,
    /// The node that holds it.
    node: String,
    is_node_live: bool,
    /// When the node asked for it, by its own clock.
    since: Option<String>,
    /// The nodes that wait for it, the next one first.
    wanted_by: Vec<String>,
}

/// What NATS holds.
#[derive(ToSchema)]
pub(crate) struct NatsFigures {
    /// The server that the node is connected to.
    server: String,
    version: String,
    /// Its cluster.
    cluster: Option<String>,
    /// Streams and buckets.
    streams: Vec<StreamShown>,
    consumers: Vec<ConsumerShown>,
}

/// A stream or a bucket.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamShown {
    name: String,
    is_bucket: bool,
    /// Messages, or values of keys.
    messages: u64,
    bytes: u64,
    /// The bytes that it may hold; null without a limit.
    bytes_max: Option<u64>,
    replicas: u64,
    /// Servers whose copy is offline or behind.
    replicas_behind: Vec<String>,
    /// Why nothing is known of it.
    trouble: Option<String>,
}

/// A consumer.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConsumerShown {
    name: String,
    stream: String,
    /// Messages that nobody has got yet: its lag.
    pending: u64,
    /// Messages that are delivered and not acknowledged.
    in_hand: u64,
    /// Those of them that were delivered before.
    redelivered: u64,
    /// Pulls that wait for messages.
    waiting_pulls: u64,
    /// Why nothing is known of it.
    trouble: Option<String>,
}

/// The database, as one node uses it.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatabaseFigures {
    /// The node that answers.
    node: String,
    /// `PostgreSQL`, `SQLite` or `memory`.
    backend: String,
    /// The clock of the database.
    time: String,
    /// The time of a question and its answer, in milliseconds.
    latency_ms: f64,
    /// Bursts that wait for a transaction.
    queued: u64,
    pools: Vec<PoolShown>,
}

/// The connections of one pool.
#[derive(ToSchema)]
pub(crate) struct PoolShown {
    /// `writer` or `reader`.
    name: String,
    /// Open connections.
    open: u64,
    /// Those of them that nobody uses.
    idle: u64,
    /// The most that there may be.
    max: u64,
}

/// What the statements of the database took, since the start of a node.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Statements {
    /// The node that answers.
    node: String,
    items: Vec<StatementShown>,
    /// Statements with figures of their own: a limited number, the last of which is all others.
    total_count: u64,
}

/// What one statement took.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatementShown {
    /// Its text, without parameters and constants in quotes.
    text: String,
    /// How often it ran.
    count: u64,
    /// The time of all its runs, in milliseconds.
    total_ms: f64,
    mean_ms: f64,
    /// The time of its longest run.
    max_ms: f64,
    /// The rows that it read or wrote; null where the driver does not say.
    rows: Option<u64>,
}
