//! Where the servers are, and how to get in.

use std::path::PathBuf;
use std::time::Duration;

/// The oldest server that has what Staunch needs: expiry per key and its markers.
pub const MINIMUM_VERSION: (u32, u32, u32) = (2, 11, 0);

/// The longest wait for one answer of the server.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(3);
/// Where the answers to Staunch's own processes arrive.
const INBOX_PREFIX: &str = "_INBOX_staunch";

/// How to connect.
#[derive(Clone, Debug)]
pub struct Options {
    /// One or more servers, separated by commas: `nats://host:4222`, `tls://user:password@host`,
    /// `nats://token@host`. All servers take the same login; it may stand in one URL or in each.
    pub url: String,
    /// The name that the server shows for the connections.
    pub name: String,
    /// A credentials file (`nsc generate creds`), where the URL has no login.
    pub creds: Option<PathBuf>,
    /// A file with the seed of a user's NKey (`nk -gen user`), where the URL has no login.
    pub nkey: Option<PathBuf>,
    /// Encryption; also asked for by a `tls://` URL.
    pub tls: Tls,
    /// The JetStream domain, where it is not the server's own.
    pub domain: Option<String>,
    /// Prefix of the subjects on which answers to this process arrive, pulled commands and watches
    /// among them. Users of NATS with fewer permissions listen below `_INBOX.`, so ours differs.
    pub inbox_prefix: String,
    /// Makes streams, buckets and the consumer again, with this many replicas, where the server has
    /// lost them: for development and tests. Without it only the buckets that are kept in memory.
    pub keep_provisioned: Option<usize>,
    /// The longest wait for the first connection.
    pub connect_max: Duration,
}

/// Certificates.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Refuse a server that does not encrypt.
    pub is_required: bool,
    /// Certificates of authorities that are trusted beside the system's.
    pub ca: Option<PathBuf>,
    /// The client's certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Options {
    /// A server without credentials.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            name: "staunch".to_owned(),
            creds: None,
            nkey: None,
            tls: Tls::default(),
            domain: None,
            inbox_prefix: INBOX_PREFIX.to_owned(),
            keep_provisioned: None,
            connect_max: Duration::from_secs(10),
        }
    }
}
