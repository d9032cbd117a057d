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

/// The number of things in the whole cluster that are not done.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClusterCounts {
    /// When they were counted, by the clock of the database.
    counted_at: String,
    /// Instances that were accepted and have not run.
    pending: u64,
    /// Instances with work to do.
    executing: u64,
    /// Instances that wait.
    suspended: u64,
    /// Waits of instances with a due time.
    timers: u64,
    /// Those of them that have been due for more than 10 seconds.
    timers_overdue: u64,
    /// Schedules of published definitions that will fire again.
    schedules: u64,
    /// Messages that are committed and not yet known to be published.
    outbox: u64,
    /// Accepted commands that are not applied yet.
    commands: u64,
    /// A figure ends at 1000000: there may be more.
    is_cut_short: bool,
}

/// The sources of messages to which workflows listen.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listeners {
    /// In the order of their streams and subjects; those without a stream first.
    items: Vec<Listener>,
    total_count: u64,
    /// Workflows name more sources than are looked at: executors follow 10000.
    is_cut_short: bool,
}

/// A source of messages, and how far behind those are who listen to it.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listener {
    /// The hash of its stimulus. Workflows that name the same source, with the same expressions, share
    /// its messages.
    hash: String,
    kind: ListenerKind,
    /// The stream, the bucket or the object store; null for messages as they come.
    name: Option<String>,
    /// The subject, which may have wildcards; of a bucket the pattern of its keys.
    filter: String,
    /// The stream as NATS has it, which is behind a bucket and an object store, too.
    stream: Option<String>,
    /// The durable consumer in the stream, which all executors share.
    consumer: Option<String>,
    /// Where it begins when its consumer is made: `new`, `all`, or a time.
    begins: String,
    /// A stream keeps the messages until they are taken. Otherwise each is heard at most once, and
    /// there is no lag.
    is_kept: bool,
    /// A message is handed over when the instances that took the one before have ended or wait.
    is_in_order: bool,
    /// Only messages for which an expression is true are taken; the lag counts the others, too.
    has_predicate: bool,
    state: ListenerState,
    /// Why it is not taken, in words.
    reason: Option<String>,
    /// Messages that nobody has got yet; null where there is no consumer, or nothing is known of it.
    lag: Option<u64>,
    /// Messages that executors have got and not settled.
    in_hand: Option<u64>,
    /// Those of them that were delivered before.
    redelivered: Option<u64>,
    /// The number in the stream of the last message that was delivered.
    delivered: Option<u64>,
    /// When it was delivered.
    delivered_at: Option<String>,
    /// When the consumer was made.
    created_at: Option<String>,
    /// Bookmarks of instances that wait for a message of it.
    waiting: u64,
    /// The definitions that want it, the first 20 in the order of their ids.
    definitions: Vec<ListeningDefinition>,
    /// The number of all definitions that want it.
    definition_count: u64,
}

/// What a source is.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ListenerKind {
    Subject,
    Stream,
    Bucket,
    ObjectStore,
}

/// What becomes of the messages of a source: executors listen; the settings let none of its
/// definitions listen; no executor lives; its stream does not exist; its consumer is not made yet; or
/// NATS does not say.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ListenerState {
    Listening,
    NotAllowed,
    NoExecutor,
    NoStream,
    NotYet,
    Unknown,
}

/// A definition that wants the messages of a source.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListeningDefinition {
    definition_id: String,
    /// Its published version starts with a message.
    starts: bool,
    /// Bookmarks of its instances that wait for a message.
    waiting: u64,
    /// The settings of the node that answers let it listen.
    is_allowed: bool,
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
    is_object_store: bool,
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
