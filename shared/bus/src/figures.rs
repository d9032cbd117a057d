//! What a bus holds, for people who look after it.

/// The bus at one moment. What the server did not answer is in it, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The server that moves commands.
    pub server: String,
    /// Its version.
    pub version: String,
    /// Its cluster, if it has one.
    pub cluster: Option<String>,
    /// Streams, then the streams of buckets.
    pub streams: Vec<StreamFigures>,
    /// The consumers of executors.
    pub consumers: Vec<ConsumerFigures>,
}

/// One stream, or the stream of a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFigures {
    /// Its name; a bucket's stream begins with `KV_`, that of an object store with `OBJ_`.
    pub name: String,
    /// Why nothing is known of it: it is missing, or the question was not answered.
    pub trouble: Option<String>,
    /// Messages, or keys, that it holds.
    pub messages: u64,
    /// Bytes that it holds.
    pub bytes: u64,
    /// The bytes that it may hold; `None` without a limit.
    pub bytes_max: Option<u64>,
    /// Its copies, as configured.
    pub replicas: u64,
    /// The servers whose copy is offline or behind.
    pub behind: Vec<String>,
}

/// One consumer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerFigures {
    /// Its name.
    pub name: String,
    /// Its stream.
    pub stream: String,
    /// There is no such consumer.
    pub is_missing: bool,
    /// Why nothing is known of it.
    pub trouble: Option<String>,
    /// Messages that nobody has got yet: its lag.
    pub pending: u64,
    /// Messages that are delivered and not acknowledged.
    pub in_hand: u64,
    /// Those of them that were delivered before.
    pub redelivered: u64,
    /// Pulls that wait for messages.
    pub pulls: u64,
}
